/** Limits of expressions: enough for real ones, and low enough that none can block the program. */
export const LIMITS = {
  /** Characters of one expression. */
  source: 10_000,
  /** Nodes of its tree. */
  nodes: 2_000,
  /** Levels of its tree. */
  depth: 250,
  /** Items visited, and text paid for by length. */
  steps: 1_000_000,
  /** Nodes evaluated, over all turns of all loops. */
  visits: 10_000_000,
  /** Characters of a text that is made. */
  text: 1_000_000,
  /** Values in a result that share their parts, and 16 characters of text as one, written out. */
  size: 1_000_000,
  /** Characters of a regular expression. */
  pattern: 1_000,
  /** Levels of lists and maps that `reduce` may pile up. */
  nesting: 250,
} as const;
