import type { RunFinished } from "../run/event.ts";
import type { ApiCoverage, OperationCoverage } from "../base/value/api_coverage.ts";
import { oneLine } from "../base/text/printable.ts";
import type { Style } from "./reporter.ts";

/** The number of all parts, and of those that were used. */
export interface Share {
  readonly covered: number;
  readonly total: number;
}

/** The shares of an API, or of several. */
export interface CoverageShares {
  readonly operations: Share;
  readonly statuses: Share;
  readonly parameters: Share;
}

/** The coverage of several runs: each description once. */
export function mergeCoverage(
  ends: readonly (Pick<RunFinished, "coverage"> | undefined)[],
): ApiCoverage[] {
  const apis = ends.flatMap((end) => end?.coverage ?? []);
  return [...Map.groupBy(apis, ({ file }) => file).values()].map((same) => {
    const operations = same.flatMap((api) => api.operations);
    return {
      ...same[0]!,
      operations: [...Map.groupBy(operations, nameOf).values()].map((twins) => ({
        ...twins[0]!,
        hits: twins.reduce((sum, { hits }) => sum + hits, 0),
        statuses: sumHits(twins.flatMap(({ statuses }) => statuses), ({ status }) => status),
        parameters: sumHits(
          twins.flatMap(({ parameters }) => parameters),
          (parameter) => `${parameter.in} ${parameter.name}`,
        ),
      })),
    };
  });
}

/** `GET /pets`. */
function nameOf({ method, path }: OperationCoverage): string {
  return `${method} ${path}`;
}

/** Each part once, with the hits of all that have the same key. */
function sumHits<T extends { readonly hits: number }>(
  parts: readonly T[],
  keyOf: (part: T) => string,
): T[] {
  const sums = new Map<string, T>();
  for (const part of parts) {
    const sum = sums.get(keyOf(part));
    sums.set(keyOf(part), sum ? { ...sum, hits: sum.hits + part.hits } : part);
  }
  return [...sums.values()];
}

/** The used share of APIs. */
export function coverageShares(apis: readonly ApiCoverage[]): CoverageShares {
  const operations = apis.flatMap((api) => api.operations);
  const statuses = operations.flatMap((operation) => operation.statuses)
    .filter(({ undescribed }) => !undescribed);
  return {
    operations: shareOf(operations),
    statuses: shareOf(statuses),
    parameters: shareOf(operations.flatMap(({ parameters }) => parameters)),
  };
}

function shareOf(list: readonly { readonly hits: number }[]): Share {
  return { covered: list.filter(({ hits }) => hits > 0).length, total: list.length };
}

/** Whole percents, rounded down, so that 100 means all; all of nothing is 100. */
export function percentOf({ covered, total }: Share): number {
  return total === 0 ? 100 : Math.floor(covered / total * 100);
}

/** Whether coverage is as much as `--min-coverage` asks for. */
interface CoverageVerdict {
  readonly isEnough: boolean;
  /** The sentence that says so. */
  readonly text: string;
}

/** Compares the share of operations that were called with the percentage that must be. */
export function coverageVerdict(
  { operations }: CoverageShares,
  minimum: number | undefined,
): CoverageVerdict | undefined {
  if (minimum === undefined) return undefined;
  const { covered, total } = operations;
  const isEnough = covered >= total * minimum / 100;
  const needed = Math.ceil(total * minimum / 100) - covered;
  const called = `${shareText(operations)} operations were called`;
  return {
    isEnough,
    text: isEnough
      ? `${called}; at least ${minimum}% are required`
      : `${called}, but at least ${minimum}% are required: ${needed} more`,
  };
}

/** The overall verdict; each run carries its own minimum. */
export function verdictOfRuns(
  ends: readonly (Pick<RunFinished, "coverage" | "minCoverage"> | undefined)[],
): CoverageVerdict | undefined {
  const minimum = ends.find((end) => end?.minCoverage !== undefined)?.minCoverage;
  const apis = mergeCoverage(ends);
  return apis.length === 0 ? undefined : coverageVerdict(coverageShares(apis), minimum);
}

/** `8 of 12 (66%)`. */
export function shareText(share: Share): string {
  return `${share.covered} of ${share.total} (${percentOf(share)}%)`;
}

/** The operations that were not called: `GET /pets`. */
export function uncalledOperations({ operations }: ApiCoverage): string[] {
  return operations.filter(({ hits }) => hits === 0).map(nameOf);
}

/** The number of uncalled operations that are listed, and where coverage is too low. */
const LISTED = 5;
const LISTED_IF_LACKING = 30;

interface SummaryOptions {
  readonly isVerbose: boolean;
  /** Whether it reaches the minimum, if there is one. */
  readonly verdict: CoverageVerdict | undefined;
  readonly style: Style;
}

/** Renders the used part of each API for the end of the text. */
export function renderCoverageSummary(
  apis: readonly ApiCoverage[],
  { isVerbose, verdict, style }: SummaryOptions,
): string {
  const isLacking = verdict?.isEnough === false;
  const limit = isVerbose ? Infinity : isLacking ? LISTED_IF_LACKING : LISTED;
  const parts = apis.map((api) => {
    const { operations, statuses, parameters } = coverageShares([api]);
    const uncalled = uncalledOperations(api);
    const rest = uncalled.length - limit;
    const lines = [
      `API coverage of ${oneLine(api.file)}`,
      `  operations    ${shareText(operations)}`,
      `  status codes  ${shareText(statuses)}`,
      `  parameters    ${shareText(parameters)}`,
      ...uncalled.slice(0, limit).map((name) => {
        const line = `  not called: ${oneLine(name)}`;
        return isLacking ? style.red(line) : line;
      }),
      ...rest > 0 ? [`  … and ${rest} more; -v lists them all`] : [],
    ];
    return `\n${lines.join("\n")}\n`;
  });
  if (!verdict) return parts.join("");
  const { isEnough, text } = verdict;
  return `${parts.join("")}\n${isEnough ? style.green(`✓ ${text}`) : style.red(`✗ ${text}`)}\n`;
}
