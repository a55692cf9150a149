import type { TextRange } from "./loose_yaml.ts";

/** Something that may be written at the cursor. */
export interface Completion {
  readonly label: string;
  readonly kind:
    | ("key" | "action" | "value" | "function" | "name" | "output")
    | ("file" | "directory" | "snippet");
  readonly detail?: string;
  readonly documentation?: string;
  readonly insert: string;
  /** Whether `insert` has slots to fill in: `$1`. */
  readonly isSnippet?: true;
}

/** The possible completions, and the part of the text that they replace. */
export interface Completions extends TextRange {
  readonly items: readonly Completion[];
}
