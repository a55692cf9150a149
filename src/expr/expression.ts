import type { Node } from "./ast.ts";

/** A parsed expression with its text. */
export interface Expression {
  readonly source: string;
  readonly node: Node;
}

/** A parsed text with `{{ … }}` in it: literal text and expressions in turn. */
export interface Template {
  readonly source: string;
  readonly parts: readonly (string | Node)[];
}

/**
 * Plain data whose strings may be templates, parsed once. A part without any template is one
 * `constant`, whatever its size, so that rendering it costs nothing.
 */
export type DataTemplate =
  | { readonly kind: "constant"; readonly value: unknown }
  | { readonly kind: "template"; readonly template: Template }
  | { readonly kind: "list"; readonly items: readonly DataTemplate[] }
  | { readonly kind: "map"; readonly entries: readonly (readonly [string, DataTemplate])[] };

/** The names that an expression sees. */
export interface Scope {
  readonly names: Readonly<Record<string, unknown>>;
  /** Whether an unknown name is an error, as in a step, rather than nil, as in workflow `vars`. */
  readonly strict: boolean;
}
