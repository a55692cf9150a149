import { CHECKS } from "../../src/check/checks.ts";
import { code, makePage, type Page, plain, table } from "./page.ts";

/** What `runner check` finds beyond what every command finds. */
export function makeChecksPage(): Page {
  return makePage("checks.md", "src/check/checks.ts", [
    "# Checks",
    "",
    "Every command refuses a file that is not right: an unknown action, a cycle in `needs`, a",
    "mistake in an expression. [`runner check`](../cli.md#check-without-a-run) finds these besides:",
    "",
    ...table(
      ["Code", "Severity", "What it tells"],
      CHECKS.flatMap(({ codes }) => codes).map(({ code: name, severity, summary }) => [
        code(name),
        severity,
        plain(summary),
      ]),
    ),
  ]);
}
