import { CHECKS } from "../../src/check/checks.ts";
import { code, makePage, type Page, plain, table } from "./page.ts";

/** The checks of `runner check` beyond those of every command. */
export function makeChecksPage(): Page {
  return makePage("checks.md", "src/check/checks.ts", [
    "# Checks",
    "",
    "Every command refuses an invalid file: an unknown action, a cycle in `needs`, an invalid",
    "expression. [`runner check`](../concepts/command-line.md#check-without-a-run) also finds these problems:",
    "",
    ...table(
      ["Code", "Severity", "Meaning"],
      CHECKS.flatMap(({ codes }) => codes).map(({ code: name, severity, summary }) => [
        code(name),
        severity,
        plain(summary),
      ]),
    ),
  ]);
}
