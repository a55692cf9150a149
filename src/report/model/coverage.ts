import type { RunFinished } from "../../run/event.ts";
import type { ApiCoverage, OperationCoverage } from "../../base/value/api_coverage.ts";
import { oneLine } from "../../base/text/printable.ts";
import type { Style } from "../reporter.ts";

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
  ends: readonly ({ readonly coverage?: RunFinished["coverage"] | undefined } | undefined)[],
): ApiCoverage[] {
  const merged = new Map<string, ApiCoverage>();
  for (const one of ends.flatMap((end) => end?.coverage ?? [])) {
    const before = merged.get(one.file);
    merged.set(one.file, before ? addCoverage(before, one) : one);
  }
  return [...merged.values()];
}

function addCoverage(one: ApiCoverage, other: ApiCoverage): ApiCoverage {
  const others = new Map(other.operations.map((operation) => [keyOf(operation), operation]));
  const operations = one.operations.map((operation) => {
    const twin = others.get(keyOf(operation));
    if (!twin) return operation;
    const { statuses, parameters } = operation;
    const known = new Set(statuses.map(({ status }) => status));
    return {
      ...operation,
      hits: operation.hits + twin.hits,
      statuses: [
        ...statuses.map((status) => ({
          ...status,
          hits: status.hits + hitsOf(twin.statuses, (same) => same.status === status.status),
        })),
        ...twin.statuses.filter(({ status }) => !known.has(status)),
      ],
      parameters: parameters.map((parameter) => ({
        ...parameter,
        hits: parameter.hits +
          hitsOf(
            twin.parameters,
            (same) => same.in === parameter.in && same.name === parameter.name,
          ),
      })),
    };
  });
  return { ...one, operations };
}

function keyOf({ method, path }: OperationCoverage): string {
  return `${method} ${path}`;
}

function hitsOf<T extends { readonly hits: number }>(
  list: readonly T[],
  isSame: (one: T) => boolean,
): number {
  return list.find(isSame)?.hits ?? 0;
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
export interface CoverageVerdict {
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

/** The verdict about all runs, each of which knows what was asked for. */
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
  return operations.filter(({ hits }) => hits === 0).map(keyOf);
}

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
