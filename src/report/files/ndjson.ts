import type { RunEvent } from "../../run/event.ts";
import { RunnerError } from "../../base/errors.ts";
import { tryParseJson } from "../../base/value/parse_json.ts";
import { isDict } from "../../base/value/value.ts";
import type { Change } from "../record.ts";

/** Renders each event as a line of JSON with its number, so that a reader notices lost lines. */
export function makeNdjsonReport(): (change: Change) => string {
  let seq = 0;
  return ({ event }) => `${JSON.stringify({ ...inOrder(event), seq: ++seq })}\n`;
}

/** The event with the exchange of a step, which is the longest, at its end. */
function inOrder(event: RunEvent): RunEvent {
  if (event.type !== "step_finished") return event;
  const { type, runId, time, run, result: { exchange, ...result } } = event;
  return { type, runId, time, run, result: { ...result, exchange } };
}

const TYPES: Readonly<Record<RunEvent["type"], true>> = {
  run_started: true,
  job_started: true,
  step_started: true,
  step_waiting: true,
  step_retried: true,
  step_finished: true,
  messages_came: true,
  round_finished: true,
  round_traced: true,
  rounds_tallied: true,
  load_second: true,
  load_ended: true,
  job_finished: true,
  run_finished: true,
  note: true,
  suite_started: true,
  suite_finished: true,
};

/**
 * Reads the events that a run has written as NDJSON. Unknown types, which may come from a newer
 * version, are left out, and so is the half line at the end of a file whose run was killed: then
 * `run_finished` or `suite_finished` is missing. Throws RunnerError for any other line that is not
 * the next event; `file` is for its message.
 */
export function* readEvents(text: string, file: string): Iterable<RunEvent> {
  let start = 0;
  let expected = 1;
  for (let number = 1; start < text.length; number++) {
    const end = text.indexOf("\n", start);
    if (end < 0) return;
    const line = text.slice(start, end);
    start = end + 1;
    if (line.trim() === "") continue;
    const { seq, ...event } = parseLine(line) ?? {};
    if (event.type === undefined) {
      throw new RunnerError(
        `${file}:${number}: not an event of a run`,
        "read a file that --report ndjson=FILE has written",
      );
    }
    if (seq !== expected) {
      throw new RunnerError(
        `${file}:${number}: found event ${seq} in place of event ${expected}`,
        "lines are missing, repeated or not in order: copy the file again, as a whole",
      );
    }
    expected++;
    if (Object.hasOwn(TYPES, event.type)) yield event as RunEvent;
  }
}

function parseLine(line: string): Partial<RunEvent> & { readonly seq?: unknown } | undefined {
  const event = tryParseJson(line);
  if (!isDict(event) || typeof event.type !== "string" || typeof event.runId !== "string") {
    return undefined;
  }
  return event as Partial<RunEvent>;
}
