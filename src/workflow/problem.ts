import type { Diagnostic, Severity } from "../base/diagnostic.ts";
import type { Path } from "../base/source.ts";

/** A mistake in a document by its path; the position is looked up only if it is shown. */
export interface Problem extends Omit<Diagnostic, "span"> {
  readonly path: Path;
  /** The part to mark: the value at the path by default. */
  readonly part?: "key" | "value";
  /** The range to mark in the text at the path. */
  readonly range?: { readonly start: number; readonly end: number };
}

/** Further details of a problem. */
export type ProblemDetails = Partial<Pick<Problem, "hint" | "part" | "range">>;

/** The code of a template without quotes, which YAML reads as a mapping. */
export const UNQUOTED_TEMPLATE = "unquoted";

/** More than these help nobody, and take long to be found, located and printed. */
export const MAX_PROBLEMS = 300;

/** Whether any of the problems keeps the workflow from running. */
export function hasErrors(problems: readonly Pick<Diagnostic, "severity">[]): boolean {
  return problems.some(({ severity }) => severity === "error");
}

/** Adds an error, which keeps the workflow from running. */
export const addError = adder("error");

/** Adds a warning, which does not keep the workflow from running. */
export const addWarning = adder("warning");

/** Adds a hint, which is shown by `check` and with `--verbose`. */
export const addHint = adder("hint");

function adder(severity: Severity) {
  return (
    problems: Problem[],
    code: string,
    path: Path,
    message: string,
    details: ProblemDetails = {},
  ): void => {
    problems.push({ severity, code, path, message, ...details });
  };
}

/**
 * Warns of unclosed braces in texts: they are plain text, probably by mistake. And of templates
 * as GitHub writes them.
 */
export function warnOfBraces(problems: Problem[], value: unknown, path: Path): void {
  if (typeof value === "string") {
    const dollar = value.search(/\$\{\{ (?!['"])/);
    if (dollar >= 0) {
      addWarning(problems, "dollar-braces", path, 'the "$" before "{{" stays in the text', {
        range: { start: dollar, end: dollar + 1 },
        hint: "unlike in GitHub Actions, a template is {{ … }}; for a price, write ${{…}}",
      });
    }
    const start = value.lastIndexOf("{{");
    if (start < 0 || value.indexOf("}}", start) >= 0) return;
    addWarning(problems, "open-braces", path, '"{{" is never closed, so it is plain text', {
      range: { start, end: start + 2 },
      hint: "close the template, or write {{ '{{' }} for braces",
    });
  } else if (typeof value === "object" && value !== null) {
    const isList = Array.isArray(value);
    for (const [key, part] of Object.entries(value)) {
      warnOfBraces(problems, part, [...path, isList ? Number(key) : key]);
    }
  }
}
