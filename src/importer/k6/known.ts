import type { SyntaxNode } from "../../expr/parse/scanner.ts";
import type { TemplatePart } from "../../openapi/gen/templates.ts";
import type { RequestDraft } from "../request_draft.ts";

/** A step that is being made of a request. */
export interface K6Step {
  readonly request: RequestDraft;
  /** The outputs that others read, by their expressions. */
  readonly captured: Map<string, string>;
  /** What thresholds find it by. */
  readonly tags: Readonly<Record<string, string>>;
}

/** What is known of a value of a script, which is not run. */
export type Known =
  | { readonly type: "plain"; readonly value: number | boolean | null }
  | { readonly type: "text"; readonly parts: readonly TemplatePart[] }
  | KnownExpression
  /** A text of the module, or one of the environment with a default: a var of the workflow. */
  | {
    readonly type: "variable";
    readonly name: string;
    readonly template: string;
    readonly constant: string | number;
  }
  | { readonly type: "map"; readonly fields: ReadonlyMap<string, Known> }
  | { readonly type: "list"; readonly items: readonly Known[] }
  /** `JSON.stringify(value)` */
  | { readonly type: "json"; readonly value: Known }
  /** `open("a.txt")` */
  | { readonly type: "file"; readonly path: string }
  /** The list in a file, of which each round can take a row. */
  | { readonly type: "rows"; readonly file: string; readonly isTable?: true }
  | { readonly type: "row" }
  | { readonly type: "response"; readonly step: K6Step }
  /** The headers or timings of a response. */
  | { readonly type: "part"; readonly step: K6Step; readonly name: string }
  | KnownFunction
  | { readonly type: "unknown"; readonly source: string };

export interface KnownExpression {
  readonly type: "expression";
  readonly text: string;
  /** The step whose response it reads. */
  readonly owner?: K6Step | undefined;
  readonly isTest?: true;
}

export interface KnownFunction {
  readonly type: "function";
  readonly node: FunctionNode;
  readonly scope: Scope;
}

export type FunctionNode = Extract<
  SyntaxNode,
  { readonly body: unknown; readonly params: unknown }
>;

/** A node of a type. */
export type Node<Type> = SyntaxNode & { readonly type: Type };

/** The names of a module or of a function that runs. */
export class Scope {
  readonly #names = new Map<string, Known>();
  /** The calls that were performed, each of which is performed only once. */
  readonly performed = new Map<SyntaxNode, Known>();

  constructor(readonly around?: Scope) {}

  find(name: string): Known | undefined {
    return this.#names.get(name) ?? this.around?.find(name);
  }

  declare(name: string, value: Known): void {
    this.#names.set(name, value);
  }

  /** Gives a name another value, where it was declared. */
  assign(name: string, value: Known): void {
    if (this.#names.has(name) || !this.around) this.#names.set(name, value);
    else this.around.assign(name, value);
  }
}

/** The name of a function that a call has: `http.get`; "" if it is not plain. */
export function callOf(node: SyntaxNode): string {
  return node.type === "CallExpression" ? pathOf(node.callee) : "";
}

function pathOf(node: SyntaxNode): string {
  if (node.type === "Identifier") return node.name;
  if (node.type !== "MemberExpression" || node.computed || node.property.type !== "Identifier") {
    return "";
  }
  const object = pathOf(node.object as SyntaxNode);
  return object === "" ? "" : `${object}.${node.property.name}`;
}

/** Whether a statement only prints, or counts for a metric. */
export function isOutput(node: SyntaxNode): boolean {
  switch (node.type) {
    case "BlockStatement":
      return node.body.every(isOutput);
    case "ExpressionStatement":
      return isOutput(node.expression);
  }
  return /^console\.|^\w+\.add$/.test(callOf(node));
}

export function isFunction(node: SyntaxNode): node is FunctionNode {
  return /^(?:ArrowFunctionExpression|FunctionExpression|FunctionDeclaration)$/.test(node.type);
}
