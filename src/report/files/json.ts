import { Histogram } from "../../base/value/histogram.ts";
import type { RunFinished, StepTally } from "../../run/event.ts";
import {
  type CoverageShares,
  coverageShares,
  mergeCoverage,
  percentOf,
  type Share,
  verdictOfRuns,
} from "../coverage.ts";
import {
  CUT_OFF,
  type LoadRecord,
  loneRecord,
  roundStats,
  type RunRecord,
  stateOfAll,
  type StepRecord,
  type SuiteRecord,
  timesOf,
} from "../record.ts";

/** The most parts of a distribution of times. */
const MAX_BARS = 24;

/** Thresholds count in seconds, as in the file. */
const UNITS = { times: "ms", thresholds: "s" };

/** A run, or several of them, as one JSON document. */
export function* renderJson(
  records: readonly RunRecord[],
  suite?: SuiteRecord,
): Iterable<string> {
  const record = loneRecord(records);
  // The schemas are in docs/report.schema.json.
  if (record) yield* renderRun(record, { schema: "runner-report/1", units: UNITS });
  else yield* renderSuite(records, suite);
  yield "\n";
}

function* renderSuite(records: readonly RunRecord[], suite?: SuiteRecord): Iterable<string> {
  const { started, duration } = timesOf(records);
  const end = suite?.end;
  const head = {
    schema: "runner-suite-report/1",
    units: UNITS,
    runId: suite?.start.runId,
    tool: records[0]?.tool,
    name: suite?.start.name,
    origin: suite?.start.origin,
    shard: suite?.start.shard,
    state: stateOfAll(records, suite),
    interrupted: end || !suite ? end?.interrupted : CUT_OFF,
    started: suite?.start.time ?? started,
    duration: end?.duration ?? duration,
    totals: end && { workflows: end.workflows, steps: end.steps },
  };
  yield `${JSON.stringify(head, undefined, 2).slice(0, -2)},\n  "runs": [`;
  for (const [index, record] of records.entries()) {
    yield index === 0 ? "\n" : ",\n";
    yield* renderRun(record, { role: record.suite?.role });
  }
  yield "\n  ]\n}";
}

/** `first` are the fields at the beginning. */
function* renderRun(
  record: RunRecord,
  first: Readonly<Record<string, unknown>>,
): Iterable<string> {
  const { id, tool, name, description, file, origin, vars, trace, started, jobs, warnings, end } =
    record;
  const head = {
    ...first,
    runId: id,
    tool,
    workflow: { name, description, file },
    origin,
    vars,
    trace,
    state: end?.state ?? "failed",
    interrupted: end ? end.interrupted : CUT_OFF,
    started,
    duration: end?.duration ?? 0,
    totals: end && totalsOf(end),
    warnings: warnings.map(({ text }) => text),
  };
  yield `${JSON.stringify(head, undefined, 2).slice(0, -2)},\n  "jobs": [`;
  for (const [index, { outline, steps, tally, load, ...job }] of jobs.entries()) {
    yield index === 0 ? "\n" : ",\n";
    const all = tally && { ...tally, times: undefined, steps: tally.steps.map(tallyData) };
    const stats = tally && roundStats(tally);
    const head = { ...job, stats, tally: all, load: load && loadData(load), plan: outline };
    yield `    ${JSON.stringify(head).slice(0, -1)},"steps":[`;
    for (const [position, step] of steps.entries()) {
      yield `${position === 0 ? "" : ","}\n      ${JSON.stringify(stepData(step))}`;
    }
    yield "]}";
  }
  yield "\n  ]\n}";
}

function totalsOf(
  { jobs, steps, flaky, assertions, leftOut }: RunFinished,
): unknown {
  return { jobs, steps, flaky, assertions, leftOut };
}

/** The results of a step in all rounds, except the results among the steps of the job. */
function tallyData({ first: _, times, failures, inside, ...tally }: StepTally): unknown {
  const all = times && Histogram.decode(times);
  return {
    ...tally,
    times: all && { ...all.summary(), histogram: all.bars(MAX_BARS) },
    failures: failures.map(({ first: _, ...failure }) => failure),
    inside: inside.length > 0 ? inside.map(tallyData) : undefined,
  };
}

/** The plan and the results of a load job; the seconds with all times are in NDJSON. */
function loadData({ outline, end }: LoadRecord): unknown {
  if (!end) return { plan: outline };
  const { stats, thresholds, stopped } = end;
  return { plan: outline, stats, thresholds, stopped };
}

/** A run of a step and of those inside of it; the longest part is at its end. */
function stepData({ run, result, position, inside }: StepRecord): unknown {
  const { step, id, round, entry } = run;
  const { exchange, ...others } = result;
  return {
    ...{ step, id, round, entry },
    place: position,
    ...others,
    exchange,
    inside: inside.length > 0 ? inside.map(stepData) : undefined,
  };
}

/** The part of the APIs that the runs have used, as JSON. */
export function* renderCoverage(records: readonly RunRecord[]): Iterable<string> {
  const ends = records.map(({ end }) => end);
  const apis = mergeCoverage(ends);
  const document = {
    schema: "runner-coverage/1",
    minimum: ends.find((end) => end?.minCoverage !== undefined)?.minCoverage,
    enough: verdictOfRuns(ends)?.isEnough,
    coverage: withPercents(coverageShares(apis)),
    apis: apis.map((api) => ({
      file: api.file,
      title: api.title,
      coverage: withPercents(coverageShares([api])),
      operations: api.operations,
    })),
  };
  yield `${JSON.stringify(document, undefined, 2)}\n`;
}

function withPercents({ operations, statuses, parameters }: CoverageShares): unknown {
  const withPercent = (share: Share) => ({ ...share, percent: percentOf(share) });
  return {
    operations: withPercent(operations),
    statuses: withPercent(statuses),
    parameters: withPercent(parameters),
  };
}
