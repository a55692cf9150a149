import type { Action } from "../../action/action.ts";
import type { TestOperand } from "../../expr/expression.ts";
import type { NameRead } from "../../base/errors.ts";
import { isDict, type Value } from "../../base/value/value.ts";
import type { StepContext } from "../execute/step_context.ts";

/** A hint about a text in place of a number, and how a column of a file becomes one. */
export function columnHint(
  { step, entry }: Pick<StepContext, "step" | "entry">,
  reads: readonly Pick<NameRead, "root" | "keys">[] = [],
  hint: string | undefined,
): string | undefined {
  if (step.iteration?.kind !== "file") return hint;
  const { template } = entry ?? {};
  const row = template?.kind === "constant" ? template.value as Value : null;
  if (!isDict(row)) return hint;
  const column = reads.flatMap(({ root, keys: [key] }) => root === "vars" && key ? key.name : [])
    .find((name) => typeof row[name] === "string" && /^\s*[-+]?\d+(\.\d+)?\s*$/.test(row[name]));
  const typed = `add types: { ${column}: number } to "iteration"`;
  return column === undefined ? hint : [hint ?? [], typed].flat().join(", or ");
}

/** Describes a field of `res` whose type is not the one that the test expects. */
export function fieldHint({ responseFields = [] }: Action, operands: readonly TestOperand[]) {
  for (const { text, type } of operands) {
    const field = responseFields.find(({ name }) => text === `res.${name}`);
    const others = operands.filter((other) => other.text !== text);
    if (field?.hint && others.every((other) => other.type !== type)) return field.hint;
  }
  return undefined;
}
