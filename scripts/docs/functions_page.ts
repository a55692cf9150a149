import { FUNCTION_GROUPS } from "../../src/expr/functions/registry.ts";
import { examplesOf } from "./function_examples.ts";
import { code, makePage, type Page, plain, table } from "./page.ts";

/** The functions of the expression language. */
export function makeFunctionsPage(): Page {
  return makePage("functions.md", "src/expr/functions/registry.ts", [
    "# Functions",
    "",
    "A `?` marks an optional argument, `...` a repeatable one. A predicate is an expression about",
    "an item of a list, with or without braces: `#` is the item, `.name` a member of it, `#index`",
    "its index. [Expressions](expressions.md) describes the rest of the language. An arrow in an example",
    "points at the value.",
    "",
    ...FUNCTION_GROUPS.flatMap(({ title, functions }) => [
      `## ${title}`,
      "",
      ...table(
        ["Function", "Result"],
        functions.map(({ signature, summary }) => [code(signature), plain(summary)]),
      ),
      "",
      "```text",
      ...functions.flatMap(({ name }) => examplesOf(name)),
      "```",
      "",
    ]),
  ]);
}
