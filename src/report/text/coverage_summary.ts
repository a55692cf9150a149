import { oneLine } from "../../base/text/printable.ts";
import type { ApiCoverage } from "../../base/value/api_coverage.ts";
import {
  coverageShares,
  type CoverageVerdict,
  shareText,
  uncalledOperations,
} from "../model/coverage_shares.ts";
import type { Style } from "../style.ts";

/** More operations are only listed for those who asked for details, or lack some. */
const MOST_UNCALLED = 5;
const MOST_LACKING = 30;

interface SummaryOptions {
  readonly isVerbose: boolean;
  /** Whether it is as much as was asked for, if anything was. */
  readonly verdict: CoverageVerdict | undefined;
  readonly style: Style;
}

/** Renders the used part of each API for the end of the text. */
export function renderCoverageSummary(
  apis: readonly ApiCoverage[],
  { isVerbose, verdict, style }: SummaryOptions,
): string {
  const isLacking = verdict?.isEnough === false;
  const most = isVerbose ? Infinity : isLacking ? MOST_LACKING : MOST_UNCALLED;
  const parts = apis.map((api) => {
    const { operations, statuses, parameters } = coverageShares([api]);
    const uncalled = uncalledOperations(api);
    const rest = uncalled.length - most;
    const lines = [
      `API coverage of ${oneLine(api.file)}`,
      `  operations    ${shareText(operations)}`,
      `  status codes  ${shareText(statuses)}`,
      `  parameters    ${shareText(parameters)}`,
      ...uncalled.slice(0, most).map((name) => {
        const line = `  not called: ${oneLine(name)}`;
        return isLacking ? style.red(line) : line;
      }),
      ...rest > 0 ? [`  … and ${rest} more; -v lists them all`] : [],
    ];
    return `\n${lines.join("\n")}\n`;
  });
  if (verdict) parts.push(`\n${verdictLine(verdict, style)}\n`);
  return parts.join("");
}

function verdictLine({ isEnough, text }: CoverageVerdict, { red, green }: Style): string {
  return isEnough ? green(`✓ ${text}`) : red(`✗ ${text}`);
}
