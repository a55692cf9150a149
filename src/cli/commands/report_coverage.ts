import type { Output } from "../../host/host.ts";
import {
  coverageShares,
  coverageVerdict,
  mergeCoverage,
  renderCoverageSummary,
} from "../../report/model/coverage.ts";
import { loadStyle } from "../../report/reporter.ts";
import type { RunFinished } from "../../run/event.ts";

/** The options for reporting coverage. */
interface CoverageOptions {
  /** Percent of all operations. */
  readonly minimum: number | undefined;
  readonly isVerbose: boolean;
  readonly colour: boolean;
  /** Where the summary goes, if anywhere. */
  readonly stdout: Output | undefined;
  readonly stderr: Output;
}

/** Prints what was called of APIs; false if that is less than it must be. */
export async function reportCoverage(
  ends: readonly RunFinished[],
  { minimum, isVerbose, colour, stdout, stderr }: CoverageOptions,
): Promise<boolean> {
  const apis = mergeCoverage(ends);
  if (minimum !== undefined && apis.length === 0) {
    stderr.write(
      "runner: error: --min-coverage: no request was held against an OpenAPI description\n" +
        '  name one in "defaults: { http: { openapi: api.yml } }", or by --openapi\n',
    );
    return false;
  }
  const style = await loadStyle(colour);
  const verdict = coverageVerdict(coverageShares(apis), minimum);
  stdout?.write(renderCoverageSummary(apis, { isVerbose, verdict, style }));
  if (!verdict || verdict.isEnough) return true;
  if (!stdout) stderr.write(`runner: error: ${verdict.text}\n`);
  return false;
}
