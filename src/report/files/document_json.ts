import type { RunFinished } from "../../run/event.ts";
import { resultJson } from "./result_json.ts";
import { onlyRecord, type RunRecord, type StepRecord } from "./run_record.ts";

/** The version of the form of the document; docs/report.schema.json describes it. */
const SCHEMA = "runner-report/1";

/** Everything that is known of a run, as one JSON document. */
export function* renderJson(records: readonly RunRecord[]): Iterable<string> {
  const record = onlyRecord(records);
  const { id, tool, name, description, file, started, jobs, warnings, end } = record;
  const head = {
    schema: SCHEMA,
    runId: id,
    tool,
    workflow: { name, ...description === undefined ? {} : { description }, file },
    state: end?.state ?? "failed",
    ...end?.interrupted === undefined ? {} : { interrupted: end.interrupted },
    ...end ? {} : { interrupted: "the run was cut off" },
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
  yield "\n  ]\n}\n";
}

function totalsOf({ jobs, steps, untestedFailures, flaky, leftOut }: RunFinished): unknown {
  return { jobs, steps, untestedFailures, flaky, ...leftOut === undefined ? {} : { leftOut } };
}

/** A run of a step, with what it ran inside. */
function stepJson({ run, text, place, inside }: StepRecord): string {
  const { step, id, round, entry } = run;
  const where = JSON.stringify({ step, id, round, entry, place });
  const more = inside.length === 0 ? "" : `,"inside":[${inside.map(stepJson).join(",")}]`;
  return `${where.slice(0, -1)},${resultJson(text).slice(1, -1)}${more}}`;
}
