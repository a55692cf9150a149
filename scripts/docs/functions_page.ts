import { FUNCTION_GROUPS } from "../../src/expr/functions/registry.ts";
import { code, makePage, type Page, plain, table } from "./page.ts";

/** The functions of the expression language. */
export function makeFunctionsPage(): Page {
  return makePage("functions.md", "src/expr/functions/registry.ts", [
    "# Functions",
    "",
    "A `?` marks what may be left out, `...` what may be given several times. A predicate is an",
    "expression about an item of a list, written bare or in braces: `#` is the item, `.name` a",
    "member of it, `#index` its place. [Expressions](../expressions.md) has examples.",
    "",
    ...FUNCTION_GROUPS.flatMap(({ title, functions }) => [
      `## ${title}`,
      "",
      ...table(
        ["Function", "What it gives"],
        functions.map(({ signature, summary }) => [code(signature), plain(summary)]),
      ),
      "",
    ]),
  ]);
}
