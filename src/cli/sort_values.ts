import { UsageError } from "../source/errors.ts";
import { checkChoice } from "./check_choice.ts";
import type { Invocation, Option } from "./command.ts";
import type { Flags } from "./parse_flags.ts";

/** Checks the values that were given to the options of a command. Throws `UsageError`. */
export function sortValues(
  { values: given }: Flags,
  options: readonly Option[],
): Pick<Invocation, "values" | "lists"> {
  const values = new Map<string, string>();
  const lists = new Map<string, readonly string[]>();
  for (const option of options) {
    const list = given.get(option.name);
    if (list === undefined) continue;
    for (const value of list) checkValue(option, value);
    const [first, another] = list;
    if (option.repeats) lists.set(option.name, list);
    else if (another !== undefined) throw new UsageError(`option --${option.name} is given twice`);
    else if (first !== undefined) values.set(option.name, first);
  }
  return { values, lists };
}

function checkValue({ name, choices }: Option, value: string): void {
  if (value === "") {
    throw new UsageError(
      `option --${name} needs a value`,
      choices && `one of ${choices.join(", ")}`,
    );
  }
  checkChoice(`option --${name}`, value, choices);
}
