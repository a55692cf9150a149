import type { Span } from "./source.ts";

/** How bad it is: an error keeps a workflow from running, a hint may be as it is meant to be. */
export type Severity = "error" | "warning" | "hint";

/** A message about a file: problem, severity, place and hint. */
export interface Diagnostic {
  /** How bad it is. */
  readonly severity: Severity;
  /** A stable name of the kind, for machines: `unknown-key`. */
  readonly code: string;
  /** What is wrong. */
  readonly message: string;
  /** What to try. */
  readonly hint?: string;
  /** Where it is. */
  readonly span?: Span;
}
