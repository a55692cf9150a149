import { oneLine } from "../../base/text/printable.ts";
import type { StepTally, StepTree } from "../../run/event.ts";

/** More names are never shown. */
const MAX_NAMES = 4;

/** Adds the names of steps that failed and that nothing tests: `gate (HTTP 401)`. */
export function addUntested(names: Set<string>, { result, inside }: StepTree, around = ""): void {
  if (names.size >= MAX_NAMES) return;
  const name = around + oneLine(result.name);
  if (result.untested !== undefined) names.add(`${name} (${oneLine(result.untested)})`);
  for (const step of inside) addUntested(names, step, `${name} › `);
}

/** The same for a step of a repeated job. */
export function addUntestedRounds(names: Set<string>, tally: StepTally, around = ""): void {
  if (names.size >= MAX_NAMES) return;
  const { untested, inside } = tally;
  const name = around + oneLine(tally.name);
  if (untested) names.add(`${name} (${oneLine(untested.first)})`);
  for (const step of inside) addUntestedRounds(names, step, `${name} › `);
}

/** Whether nothing tests a failure of a step of a repeated job, or of one inside of it. */
export function isUntested({ untested, inside }: StepTally): boolean {
  return untested !== undefined || inside.some(isUntested);
}
