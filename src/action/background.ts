import type { Dict } from "./action.ts";
import { isGiven } from "./parameter.ts";
import { flag, type Param, type Rule } from "./rule.ts";

/** `background` of an action whose steps may stay open. */
export const BACKGROUND: Rule<boolean, boolean> = flag(
  "Whether it stays open until the run ends, and keeps what comes for `receive`",
).default(false);

/** Reports parameters that have no effect on a step that stays open. */
export function checkBackground(param: Param, raw: Dict, others: readonly string[]): void {
  if (raw.background !== true) return;
  for (const name of others.filter((name) => isGiven(raw, name))) {
    const message = `"background" and "${name}" cannot be combined`;
    const hint = 'a step with "uses: receive" takes what comes';
    param.of(name).wrong(message, hint, { at: "key" });
  }
}
