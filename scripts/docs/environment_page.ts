import { VARIABLES } from "../../src/cli/environment.ts";
import { code, makePage, type Page, plain, table } from "./page.ts";

/** Environment variables that the program reads itself. */
export function makeEnvironmentPage(): Page {
  return makePage("environment.md", "src/cli/environment.ts", [
    "# Environment variables",
    "",
    "The program itself reads these variables. All others are available to the `vars` of a workflow;",
    "[Environment](../concepts/environment.md) explains how.",
    "",
    ...table(
      ["Variable", "What it does"],
      VARIABLES.map(({ name, summary }) => [code(name), `${plain(summary)}.`]),
    ),
  ]);
}
