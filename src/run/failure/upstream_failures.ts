import { isDict } from "../../value/value.ts";
import type { Step } from "../../workflow/model.ts";
import type { Failure } from "../event.ts";
import { readOutputs } from "./output_reads.ts";
import type { Round } from "../execute/step_context.ts";

/** A step that may not have published what others read. */
interface Lapse {
  readonly step: Step;
  /** As reports show it. */
  readonly name: string;
  readonly state: "failed" | "skipped";
}

const lapses = new WeakMap<Round, Lapse[]>();

/** Remembers a step that failed or was skipped, for those after it in its round. */
export function rememberLapse(round: Round, lapse: Lapse): void {
  if (lapse.step.id === undefined || lapse.step.outputs.length === 0) return;
  const before = lapses.get(round);
  if (before) before.push(lapse);
  else lapses.set(round, [lapse]);
}

/** Failures that say so where they come from a step before that has not published something. */
export function blameLapses(round: Round, failures: readonly Failure[]): readonly Failure[] {
  const before = lapses.get(round);
  if (!before) return failures;
  return failures.map((failure) => {
    const hint = hintFor(failure, round, before);
    return hint === undefined ? failure : { ...failure, hint };
  });
}

function hintFor(failure: Failure, round: Round, before: readonly Lapse[]): string | undefined {
  for (const [first, second] of readsOf(failure)) {
    const lapse = before.find((lapse) => isUnmet(lapse, round, first, second));
    if (!lapse) continue;
    const what = lapse.state === "failed" ? "has failed" : "was skipped";
    return `the step "${lapse.name}", which publishes it, ${what}`;
  }
  return undefined;
}

/** The outputs that a failure is about: those at its mark, or those that a false test found nil. */
function readsOf({ kind, place, operands = [] }: Failure): ReturnType<typeof readOutputs> {
  if (kind === "test") {
    return operands.filter(({ value }) => value === null).flatMap(({ text }) => readOutputs(text));
  }
  if (kind !== "expression" || !place) return [];
  return readOutputs(place.text, { start: place.from, end: place.to });
}

/** Whether a step should have published an output, by its id or flat, and there is none. */
function isUnmet({ step }: Lapse, { outputs }: Round, first: string, second?: string): boolean {
  const { view } = outputs;
  const isOwn = (name: string) => step.outputs.some((output) => output.name === name);
  if (first !== step.id) return isOwn(first) && (view[first] ?? null) === null;
  const published = view[first];
  if (!isDict(published)) return true;
  return second !== undefined && isOwn(second) && (published[second] ?? null) === null;
}
