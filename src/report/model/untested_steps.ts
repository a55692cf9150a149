import { oneLine } from "../../base/text/printable.ts";
import type { StepTree } from "./step_trees.ts";

/** So many steps are named. */
const MOST_NAMED = 3;

/** Collects the names of steps that were unsuccessful and that nothing tests. */
export class UntestedSteps {
  readonly #names = new Set<string>();

  /** Takes a step that is over; `around` leads to it. */
  add({ result, inside }: StepTree, around = ""): void {
    if (this.#names.size > MOST_NAMED) return;
    const name = around + oneLine(result.name);
    if (result.untested !== undefined) this.#names.add(`${name} (${oneLine(result.untested)})`);
    for (const step of inside) this.add(step, `${name} › `);
  }

  /** `gate (HTTP 401), build (exit 3)`. */
  get names(): string {
    const [...names] = this.#names;
    return names.length > MOST_NAMED
      ? `${names.slice(0, MOST_NAMED).join(", ")}, …`
      : names.join(", ");
  }
}
