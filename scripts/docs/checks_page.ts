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
    "A problem is an error if the run certainly fails: the value is read in every run, and nil is not",
    "accepted there. If a run may pass nevertheless, the same problem is a warning: behind `||` and",
    "`??`, in a branch, in a comparison with `!=`, in the value of an output, in a step or job with",
    "`skipif`, in a job with `when: failure`, in a job that is not selected, and in jobs whose",
    "`repeat.expect` decides.",
    "",
    "A run, `--dry-run`, `prepare` and `export` refuse a workflow with errors before the first job.",
    "With `--strict`, a run also refuses one with warnings. `--no-check` runs it nevertheless.",
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
