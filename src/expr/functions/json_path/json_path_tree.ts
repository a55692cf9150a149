/** The tree of a JSONPath, as `jsonpath-rfc9535/parser` gives it. */
export interface JsonPathQuery {
  readonly type: "JsonPathQuery";
  readonly segments: readonly Segment[];
}

interface Name {
  readonly type: "NameSelector" | "MemberNameShorthand";
  readonly value: string;
}

interface Index {
  readonly type: "IndexSelector";
  readonly value: number;
}

export interface Segment {
  readonly type: "ChildSegment" | "DescendantSegment";
  readonly node:
    | { readonly type: "BracketedSelection"; readonly selectors: readonly Selector[] }
    | { readonly type: "WildcardSelector" }
    | { readonly type: "MemberNameShorthand"; readonly value: string };
}

export type Selector =
  | { readonly type: "NameSelector"; readonly value: string }
  | { readonly type: "WildcardSelector" }
  | {
    readonly type: "SliceSelector";
    readonly start: number | null;
    readonly end: number | null;
    readonly step: number | null;
  }
  | Index
  | { readonly type: "FilterSelector"; readonly value: LogicalExpr };

export type LogicalExpr =
  | {
    readonly type: "LogicalOrExpr" | "LogicalAndExpr";
    readonly left: LogicalExpr;
    readonly right: LogicalExpr;
  }
  | { readonly type: "LogicalNotExpr"; readonly expression: LogicalExpr }
  | { readonly type: "TestExpr"; readonly expression: FilterQuery | FunctionExpr }
  | {
    readonly type: "ComparisonExpr";
    readonly left: Comparable;
    readonly right: Comparable;
    readonly op: string;
  };

export interface FilterQuery {
  readonly type: "FilterQuery";
  readonly value:
    | { readonly type: "RelQuery"; readonly segments: readonly Segment[] }
    | JsonPathQuery;
}

export interface FunctionExpr {
  readonly type: "FunctionExpr";
  readonly name: string;
  readonly arguments: readonly FunctionArgument[];
}

export type FunctionArgument = Literal | FilterQuery | LogicalExpr | FunctionExpr;

export type Comparable =
  | Literal
  | {
    readonly type: "RelSingularQuery" | "AbsSingularQuery";
    readonly segments: readonly SingularQuerySegment[];
  }
  | FunctionExpr;

export interface SingularQuerySegment {
  readonly type: "SingularQuerySegment";
  /** The parser wraps an index once more. */
  readonly node: Name | Index | { readonly type: "IndexSelector"; readonly selector: Index };
}

interface Literal {
  readonly type: "Literal";
  readonly value: string | number | boolean | null;
}
