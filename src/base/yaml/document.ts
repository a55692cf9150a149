import type { Dict } from "../value/value.ts";
import type { Path, Source, Span } from "../source.ts";

/** Files, read as one document. */
export interface Document {
  /** The file, or the files joined by commas, as the user named them. */
  readonly name: string;
  readonly files: readonly Source[];
  readonly value: unknown;
  readonly replaced: readonly ReplacedKey[];
  /** The keys that a mapping has more than once: the last one counts, and it is an error. */
  readonly duplicates: readonly DuplicateKey[];
  /** Values for `with` by action that come from outside the file, the weakest first. */
  readonly defaults?: readonly Dict[];
  /** The path at which a value is written that may be inherited from elsewhere in the document. */
  readonly writtenAt?: WrittenAt;
  /** The documents that this one joins: `values` are the `defaults` from the outer one. */
  readonly joined?: { readonly own: Document; readonly outer: Document; readonly values: Dict };
}

/** The path at which the value at a path of a root is written. */
export type WrittenAt = (root: unknown, path: Path) => Path;

/** The values of the files that are not empty, and the keys that a mapping in them has twice. */
export interface FileValues {
  readonly filled: readonly Source[];
  readonly values: readonly unknown[];
  readonly duplicates?: readonly DuplicateKey[];
}

/** A key that its mapping has before. */
export interface DuplicateKey {
  readonly path: Path;
  readonly message: string;
  readonly hint: string;
  readonly span: Span;
}

/** A top-level key that several files define. The last definition counts. */
export interface ReplacedKey {
  readonly key: string;
  /** The file whose value is replaced. */
  readonly before: string;
  /** The file whose value takes its place. */
  readonly after: string;
}

/** Where the values of a document are in its files. Aliases and merged keys are followed. */
export interface Positions {
  /** The value or its key; the nearest value around it if the path does not exist. */
  locate(path: Path, part?: "key" | "value"): Span;
  /** The text of a scalar as a source of its own, to mark a part of an expression in it. */
  text(path: Path): Source | undefined;
  /** The top-level keys whose values define an anchor that an alias uses. */
  keysOfUsedAnchors(): ReadonlySet<string>;
}
