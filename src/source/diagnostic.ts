import type { Span } from "./source.ts";

/** Something to say about a file: what, how bad, where and what to try. */
export interface Diagnostic {
  readonly severity: "error" | "warning";
  /** A stable name of the kind, for machines: `unknown-key`. */
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly span?: Span;
}
