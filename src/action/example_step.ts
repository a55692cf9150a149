import type { Action } from "./action.ts";

/** A step that uses an action, in YAML. */
export function exampleStep({ name, usage, exampleTest }: Action): string {
  const test = exampleTest === undefined ? undefined : `test: ${exampleTest}`;
  const lines = [`- uses: ${name}`, usage, test].filter((part) => part !== undefined);
  return lines.join("\n").replaceAll("\n", "\n  ");
}
