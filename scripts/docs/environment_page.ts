import { VARIABLES } from "../../src/cli/environment.ts";
import { code, makePage, type Page, plain, table } from "./page.ts";

/** Environment variables that the program reads itself. */
export function makeEnvironmentPage(): Page {
  return makePage("environment.md", "src/cli/environment.ts", [
    "# Environment variables",
    "",
    "These are read by the program itself. Every other variable is seen by the `vars` of a workflow",
    "alone; [Environment](../environment.md) explains how, and what is not read.",
    "",
    ...table(
      ["Variable", "What it does"],
      VARIABLES.map(({ name, summary }) => [code(name), `${plain(summary)}.`]),
    ),
  ]);
}
