import { parseExpression } from "../expr/parse_expression.ts";
import type { Dict } from "../base/value/value.ts";
import type { LoadEnded, LoadOutline, LoadSecond, RunEvent } from "../run/event.ts";
import type { FieldError } from "../run/execute/evaluate_field.ts";
import { LoadTotals, mergeSeconds, statsValue } from "../run/load/load_stats.ts";
import { judge } from "../run/load/thresholds.ts";
import type { RunPart } from "./piece_events.ts";

/** The joint result of several processes of a load job. */
export interface MergedLoad {
  /** Of all processes, from their files. */
  readonly seconds: () => Iterable<LoadSecond>;
  readonly ended: LoadEnded;
  /** The thresholds that failed. */
  readonly errors: readonly FieldError[];
}

/** Merges the parts of a load job. `expect` is undefined where one of them was lost. */
export function mergeLoad(
  id: string,
  parts: readonly RunPart[],
  outline: LoadOutline,
  expect: readonly string[] | undefined,
  vars: Dict,
): MergedLoad {
  const totals = new LoadTotals(outline.steps);
  const seconds = () => secondsOf(id, parts);
  for (const second of seconds()) if (second.phase !== "warm_up") totals.add(second);
  const stats = totals.stats();
  const names = { vars, outputs: {}, needs: {}, stats: statsValue(stats, outline.steps) };
  const errors: FieldError[] = [];
  const thresholds = (expect ?? []).map((source) =>
    judge({ expression: parseExpression(source) }, { names, strict: true }, errors)
  );
  const reasons = parts.flatMap(({ jobs }) => jobs.get(id)?.stopped ?? []);
  const [stopped] = expect ? reasons : ["a process of it was lost"];
  return {
    seconds,
    ended: {
      ...{ type: "load_ended", runId: "", time: 0, job: id, stats, thresholds },
      stopped,
    },
    errors,
  };
}

function* secondsOf(id: string, parts: readonly RunPart[]): Iterable<LoadSecond> {
  const streams = parts.map(({ events }) => secondsIn(events(), id));
  for (;;) {
    const seconds = streams.flatMap((stream) => stream.next().value ?? []);
    if (seconds.length === 0) return;
    const time = Math.max(...seconds.map(({ time }) => time));
    yield { type: "load_second", runId: "", time, ...mergeSeconds(seconds) };
  }
}

function* secondsIn(events: Iterable<RunEvent>, id: string): Generator<LoadSecond, undefined> {
  for (const event of events) {
    if (event.type === "load_second" && event.job === id) yield event;
  }
  return undefined;
}
