import { FUNCTION_GROUPS } from "../../src/expr/functions/registry.ts";
import { examplesOf } from "./function_examples.ts";
import { code, makePage, type Page, plain, table } from "./page.ts";

/** The functions of the expression language. */
export async function makeFunctionsPage(): Promise<Page> {
  const groups = await Promise.all(
    FUNCTION_GROUPS.map(async ({ title, functions }) => ({
      title,
      names: functions.map(({ name }) => name),
      rows: await Promise.all(
        functions.map(async (one) => [code(one.signature), plain(await one.summary())]),
      ),
    })),
  );
  return makePage("functions.md", "src/expr/functions/registry.ts", [
    "# Functions",
    "",
    "A `?` marks an optional argument, `...` a repeatable one. A predicate is an expression about",
    "an item of a list, with or without braces: `#` is the item, `.name` a member of it, `#index`",
    "its index. [Expressions](expressions.md) describes the rest of the language. An arrow in an example",
    "points at the value.",
    "",
    ...groups.flatMap(({ title, names, rows }) => [
      `## ${title}`,
      "",
      ...table(
        ["Function", "Result"],
        rows,
      ),
      "",
      "```text",
      ...names.flatMap(examplesOf),
      "```",
      "",
    ]),
  ]);
}
