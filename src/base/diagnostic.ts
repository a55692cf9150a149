import type { Span } from "./source.ts";

/** The severity: an error prevents a workflow from running, a hint may point at correct text. */
export type Severity = "error" | "warning" | "hint";

/** A message about a file: problem, severity, place and hint. */
export interface Diagnostic {
  /** The severity. */
  readonly severity: Severity;
  /** A stable name of the kind, for machines: `unknown-key`. */
  readonly code: string;
  /** The problem. */
  readonly message: string;
  /** A suggestion for a fix. */
  readonly hint?: string;
  /** Where it is. */
  readonly span?: Span;
}
