import type { StepRun } from "../../run/event.ts";
import { failureKind } from "../model/round_tally.ts";
import type { Case, CaseSuite } from "./cases.ts";

/** Cases of one step that went alike in several rounds of their job. */
export interface AlikeCases {
  readonly suite: CaseSuite;
  readonly first: Case;
  readonly count: number;
}

/** The cases that are asked for, those of a step that went alike in several rounds as one. */
export function findAlike(
  suites: readonly CaseSuite[],
  isAsked: (one: Case) => boolean,
): readonly AlikeCases[] {
  const found: AlikeCases[] = [];
  for (const suite of suites) {
    const known = new Map<string, number>();
    for (const one of suite.cases) {
      if (!isAsked(one)) continue;
      const key = one.step
        ? `${slotOf(one.step.run)}\n${failureKind({ ...one.step.result, failures: one.failures })}`
        : one.name;
      const index = known.get(key);
      if (index === undefined) {
        known.set(key, found.length);
        found.push({ suite, first: one, count: 1 });
      } else found[index] = { ...found[index]!, count: found[index]!.count + 1 };
    }
  }
  return found;
}

/** Identifies the steps of a job and their entries, regardless of the round. */
function slotOf({ within, step, entry }: StepRun): string {
  return `${within ? slotOf(within) : ""}/${step}.${entry}`;
}
