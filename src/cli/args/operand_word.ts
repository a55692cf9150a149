import type { Operand } from "../command.ts";

/** An operand as usage shows it: `<workflow_file>...`, `[<command>]`. */
export function operandWord({ name, repeats, isOptional }: Operand): string {
  const word = `<${name}>${repeats ? "..." : ""}`;
  return isOptional ? `[${word}]` : word;
}
