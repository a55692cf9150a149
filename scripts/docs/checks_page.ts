import { CHECKS } from "../../src/check/checks.ts";
import { code, makePage, type Page, plain, table } from "./page.ts";

/** The checks of `runner check` beyond those of every command. */
export function makeChecksPage(): Page {
  return makePage("checks.md", "src/check/checks.ts", [
    "# Checks",
    "",
    "Every command refuses an invalid file: an unknown action, a cycle in `needs`, an invalid",
    "expression. [`runner check`](../concepts/command-line.md#check-without-a-run) also finds the problems below.",
    "",
    "An unknown name is an error wherever it is read, unless `?.` or `??` says that it may be missing.",
    "For outputs that are published too late, and environment variables that are not set, the problem",
    "is an error if the run certainly fails: the value is read in every run, and nil is not accepted",
    "there. If a run may pass nevertheless, it is a warning.",
    "",
    "A run, `--dry-run`, `prepare` and `export` refuse a workflow with errors before the first job.",
    "A run prints warnings; with `--strict`, it refuses a workflow with any. `--no-check` runs it nevertheless.",
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
