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
    "An error is what certainly fails: the value is read in every run, and nil is not accepted there.",
    "Where a run may pass nevertheless, the same problem is a warning: behind `||` and `??`, in a",
    "branch, in a comparison with `!=`, in the value of an output, in a step or job with `skipif`, in",
    "one with `when: failure` or that a run does not choose, and in jobs whose `repeat.expect` decides.",
    "A run, `--dry-run`, `prepare` and `export` refuse on every error before the first job, with `--strict` a run also on every",
    "warning; `--no-check` runs all the same.",
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
