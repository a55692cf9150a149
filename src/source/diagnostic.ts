import type { Span } from "./source.ts";

/** How bad it is: an error keeps a workflow from running, a hint may be as it is meant to be. */
export type Severity = "error" | "warning" | "hint";

/** Something to say about a file: what, how bad, where and what to try. */
export interface Diagnostic {
  readonly severity: Severity;
  /** A stable name of the kind, for machines: `unknown-key`. */
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly span?: Span;
}
