import type { RunFinished } from "../../run/event.ts";
import { resultJson } from "./result_json.ts";
import {
  loneRecord,
  type RunRecord,
  type StepRecord,
  type SuiteRecord,
  timesOf,
} from "./run_record.ts";

/** The version of the form of the document; docs/report.schema.json describes it. */
const SCHEMA = "runner-report/1";

/** The version of the form of the document about several runs. */
const SUITE_SCHEMA = "runner-suite-report/1";

/** Everything that is known of a run, or of several, as one JSON document. */
export function* renderDocumentJson(
  records: readonly RunRecord[],
  suite?: SuiteRecord,
): Iterable<string> {
  const record = loneRecord(records);
  if (!record) yield* renderSuite(records, suite);
  else {
    yield* renderRun(record, { schema: SCHEMA });
    yield "\n";
  }
}

/** Each run of it is described as a report describes one. */
function* renderSuite(records: readonly RunRecord[], suite?: SuiteRecord): Iterable<string> {
  const { started, duration } = timesOf(records);
  const end = suite?.end;
  const isGood = records.every((record) => record.end?.state === "passed");
  const head = {
    schema: SUITE_SCHEMA,
    runId: suite?.start.runId,
    tool: records[0]?.tool,
    name: suite?.start.name,
    shard: suite?.start.shard,
    state: end?.state ?? (isGood && !suite ? "passed" : "failed"),
    interrupted: end || !suite ? end?.interrupted : CUT_OFF,
    started: suite?.start.time ?? started,
    duration: end?.duration ?? duration,
    ...end ? { totals: { workflows: end.workflows, steps: end.steps } } : {},
  };
  yield `${JSON.stringify(head, undefined, 2).slice(0, -2)},\n  "runs": [`;
  for (const [index, record] of records.entries()) {
    yield index === 0 ? "\n" : ",\n";
    const { role } = record.suite ?? {};
    yield* renderRun(record, role === undefined ? {} : { role });
  }
  yield "\n  ]\n}\n";
}

const CUT_OFF = "the run was cut off";

function* renderRun(record: RunRecord, first: Readonly<Record<string, string>>): Iterable<string> {
  const { id, tool, name, description, file, started, jobs, warnings, end } = record;
  const head = {
    ...first,
    runId: id,
    tool,
    workflow: { name, ...description === undefined ? {} : { description }, file },
    state: end?.state ?? "failed",
    ...end?.interrupted === undefined ? {} : { interrupted: end.interrupted },
    ...end ? {} : { interrupted: CUT_OFF },
    started,
    duration: end?.duration ?? 0,
    ...end ? { totals: totalsOf(end) } : {},
    warnings: warnings.map(({ text }) => text),
  };
  yield `${JSON.stringify(head, undefined, 2).slice(0, -2)},\n  "jobs": [`;
  for (const [index, { outline, steps, ...job }] of jobs.entries()) {
    yield index === 0 ? "\n" : ",\n";
    yield `    ${JSON.stringify({ ...job, plan: outline }).slice(0, -1)},"steps":[`;
    for (const [position, step] of steps.entries()) {
      yield `${position === 0 ? "" : ","}\n      ${stepJson(step)}`;
    }
    yield "]}";
  }
  yield "\n  ]\n}";
}

function totalsOf(
  { jobs, steps, untestedFailures, flaky, assertions, leftOut }: RunFinished,
): unknown {
  // JSON leaves out what is undefined.
  return { jobs, steps, untestedFailures, flaky, assertions, leftOut };
}

/** A run of a step, with what it ran inside. */
function stepJson({ run, text, place, inside }: StepRecord): string {
  const { step, id, round, entry } = run;
  const where = JSON.stringify({ step, id, round, entry, place });
  const more = inside.length === 0 ? "" : `,"inside":[${inside.map(stepJson).join(",")}]`;
  return `${where.slice(0, -1)},${resultJson(text).slice(1, -1)}${more}}`;
}
