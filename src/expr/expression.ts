import type { Mismatch } from "../base/value/difference.ts";
import type { TypeName, Value } from "../base/value/value.ts";
import type { RandomSource } from "./draws.ts";
import type { Node } from "./parse/ast.ts";

/** A text and the tree that was read from it. */
export interface Parsed {
  readonly source: string;
  readonly node: Node;
}

/** A parsed expression. It brings its evaluation along, so that few modules load the language. */
export interface Expression extends Parsed {
  /** Its value. Throws `ExpressionError`. */
  readonly evaluate: (scope: Scope) => Value;
}

/** A text and its parts: literal text and expressions. */
export interface ParsedTemplate {
  readonly source: string;
  readonly parts: readonly (string | Node)[];
}

/** A parsed text with `{{ … }}` in it. Rendering it throws `ExpressionError`. */
export interface Template extends ParsedTemplate {
  /**
   * Its value. If it is one expression with only spaces around it, that is the value of the
   * expression, whatever its type; otherwise it is a text.
   */
  readonly render: (scope: Scope, options?: RenderOptions) => unknown;
  /** The text. nil in it would leave a gap, and is an error. */
  readonly renderText: (scope: Scope, options?: RenderOptions) => string;
}

export interface RenderOptions {
  /** Whether people alone will read the text: nil is then written as `nil`, and is not an error. */
  readonly display?: boolean;
  /** The value that nil, as the whole template, would silently omit: an error. */
  readonly nilOmits?: string;
}

/**
 * Plain data whose strings may be templates, parsed once. A part without any template is one
 * `constant`, whatever its size, so that rendering it costs nothing.
 */
export type DataTemplate =
  | { readonly kind: "constant"; readonly value: unknown }
  | {
    readonly kind: "template";
    readonly template: Template;
    /** As in `RenderOptions`. */
    readonly nilOmits?: string;
  }
  | { readonly kind: "list"; readonly items: readonly DataTemplate[] }
  | { readonly kind: "map"; readonly entries: readonly (readonly [string, DataTemplate])[] };

/** The scope of an expression. */
export interface Scope {
  readonly names: Readonly<Record<string, unknown>>;
  /** Whether an unknown name is an error, as in a step, rather than nil, as in workflow `vars`. */
  readonly strict: boolean;
  /** Takes a value that an expression declares secret, with everything inside it. */
  readonly addSecret?: (value: Value) => void;
  /** The source of random functions; without it, their results cannot be reproduced. */
  readonly random?: RandomSource;
}

/** Why a test came out as it did. */
export interface Explanation {
  /** The part that decided it. */
  readonly start: number;
  readonly end: number;
  readonly operands: readonly TestOperand[];
  /** The mistake that is its likely cause. */
  readonly hint?: string;
  /** Two lists, two maps or two texts that should have been equal. */
  readonly unequal?: { readonly expected: ComparedSide; readonly received: ComparedSide };
  /** Every mismatch of a value, and the expressions of both sides. */
  readonly mismatches?: {
    readonly expected: string;
    readonly received: string;
    readonly places: readonly Mismatch[];
  };
}

/** A side of a comparison. */
interface ComparedSide {
  /** The text as written. */
  readonly text: string;
  readonly value: Value;
}

/** A part of a test and the value that it had. */
export interface TestOperand {
  readonly start: number;
  readonly end: number;
  /** The part as it is written. */
  readonly text: string;
  readonly value: Value;
  readonly type: TypeName;
}

/** The names that an expression sees at some place of a workflow. */
export interface NameRule {
  /** The location as messages name it: `in a step`. */
  readonly where: string;
  /** The known names; undefined if any name may exist, as in workflow `vars`. */
  readonly known?: readonly string[];
  /** Names that are constant there, with their values. */
  readonly empty?: Readonly<Record<string, string>>;
  /** The keys that names have, if known: those of `stats.steps.*` by such paths. */
  readonly members?: Readonly<Record<string, readonly string[]>>;
  /** Hints for names that look right but are not available. */
  readonly hints?: Readonly<Record<string, string>>;
}
