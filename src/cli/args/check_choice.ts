import { UsageError } from "../../source/errors.ts";
import { didYouMean } from "../../source/suggest.ts";

/** Refuses a value that is not among the choices; `what` names where it was given. */
export function checkChoice(what: string, value: string, choices?: readonly string[]): void {
  if (!choices || choices.includes(value)) return;
  const hint = didYouMean(value, choices) ?? `one of ${choices.join(", ")}`;
  throw new UsageError(`${what} cannot be "${value}"`, hint);
}
