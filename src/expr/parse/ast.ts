/** The tree of an expression. Names are ESTree's where ESTree has the thing. */
export type Node =
  | Literal
  | Identifier
  | Pointer
  | ArrayExpression
  | ObjectExpression
  | UnaryExpression
  | BinaryExpression
  | LogicalExpression
  | ComparisonChain
  | ConditionalExpression
  | MemberExpression
  | SliceExpression
  | ChainExpression
  | CallExpression
  | Predicate
  | LetExpression
  | SequenceExpression;

/** The range of a node in its text, in UTF-16 offsets. */
interface Position {
  readonly start: number;
  readonly end: number;
}

export interface Literal extends Position {
  readonly type: "Literal";
  readonly value: string | number | bigint | boolean | null;
}

export interface Identifier extends Position {
  readonly type: "Identifier";
  readonly name: string;
}

/** `#`, `#acc` or `#index` in a predicate; `.name` there is a member of `#`. */
export interface Pointer extends Position {
  readonly type: "Pointer";
  readonly name: "" | "acc" | "index";
}

export interface ArrayExpression extends Position {
  readonly type: "ArrayExpression";
  readonly elements: readonly Node[];
}

export interface ObjectExpression extends Position {
  readonly type: "ObjectExpression";
  readonly properties: readonly Property[];
}

export interface Property extends Position {
  readonly type: "Property";
  readonly key: Node;
  readonly value: Node;
}

export interface UnaryExpression extends Position {
  readonly type: "UnaryExpression";
  readonly operator: "!" | "-" | "+";
  readonly argument: Node;
}

export interface BinaryExpression extends Position {
  readonly type: "BinaryExpression";
  readonly operator: BinaryOperator;
  readonly left: Node;
  readonly right: Node;
}

export type BinaryOperator =
  | Comparison
  | "=="
  | "!="
  | "in"
  | "contains"
  | "matches"
  | "startsWith"
  | "endsWith"
  | ".."
  | "+"
  | "-"
  | "*"
  | "/"
  | "%"
  | "**";

export type Comparison = "<" | "<=" | ">" | ">=";

export interface LogicalExpression extends Position {
  readonly type: "LogicalExpression";
  readonly operator: "&&" | "||" | "??";
  readonly left: Node;
  readonly right: Node;
}

/** `a < b <= c`: `a < b` and `b <= c`. */
export interface ComparisonChain extends Position {
  readonly type: "ComparisonChain";
  readonly comparisons: readonly BinaryExpression[];
}

/** `test ? a : b`, `a ?: b` and `if test { a } else { b }`. */
export interface ConditionalExpression extends Position {
  readonly type: "ConditionalExpression";
  readonly test: Node;
  readonly consequent: Node;
  readonly alternate: Node;
}

export interface MemberExpression extends Position {
  readonly type: "MemberExpression";
  readonly object: Node;
  readonly property: Node;
  readonly computed: boolean;
  readonly optional: boolean;
}

export interface SliceExpression extends Position {
  readonly type: "SliceExpression";
  readonly object: Node;
  readonly from: Node | null;
  readonly to: Node | null;
}

/** A whole chain with `?.` in it: nil before a `?.` makes the chain nil. */
export interface ChainExpression extends Position {
  readonly type: "ChainExpression";
  readonly expression: Node;
}

export interface CallExpression extends Position {
  readonly type: "CallExpression";
  readonly callee: Node;
  readonly arguments: readonly Node[];
  /** Written as `x | f(…)`. */
  readonly piped: boolean;
}

/** The predicate of a list function: the second argument of `filter` and similar functions. */
export interface Predicate extends Position {
  readonly type: "Predicate";
  readonly body: Node;
}

export interface LetExpression extends Position {
  readonly type: "LetExpression";
  readonly id: Identifier;
  readonly init: Node;
  readonly body: Node;
}

/** `a; b; c`: the value of the last. */
export interface SequenceExpression extends Position {
  readonly type: "SequenceExpression";
  readonly expressions: readonly Node[];
}
