import type { SyntaxNode } from "../../expr/parse/scanner.ts";
import type { RequestDraft } from "../request_draft.ts";

/** A step that is being made of a script, whose response later parts may read. */
export interface K6Step {
  readonly request: RequestDraft;
  /** The outputs that others read, by their expressions. */
  readonly captured: Map<string, string>;
}

/** What a part of a script stands for. */
export type Thing =
  | { readonly type: "node"; readonly node: SyntaxNode; readonly scope: Scope }
  | { readonly type: "response"; readonly step: K6Step }
  | {
    readonly type: "responses";
    readonly steps: readonly (readonly [key: string, step: K6Step])[];
  }
  | { readonly type: "text"; readonly text: string }
  | { readonly type: "row" };

/** The names that a part of a script sees: the last one, and those before it. */
export type Scope =
  | {
    readonly name: string;
    readonly thing: Thing;
    /** Whether the name is one of the module. */
    readonly isGlobal: boolean;
    readonly before: Scope;
  }
  | undefined;

/** Thrown for a part that cannot be translated. */
export class Untranslated extends Error {
  constructor(readonly node: SyntaxNode) {
    super();
  }
}

/** A function of a script. */
export interface FunctionThing {
  readonly type: "node";
  readonly node: Extract<SyntaxNode, { readonly body: unknown; readonly params: unknown }>;
  readonly scope: Scope;
}

export function lookUp(name: string, scope: Scope): Scope {
  for (let one = scope; one; one = one.before) if (one.name === name) return one;
  return undefined;
}

export function bind(name: string, thing: Thing, scope: Scope, isGlobal = false): Scope {
  return { name, thing, isGlobal, before: scope };
}

/** The scope inside a function that is called with these arguments. */
export function bindParameters(
  { node, scope }: FunctionThing,
  args: readonly SyntaxNode[],
  caller: Scope,
): Scope {
  let inside = scope;
  for (const [index, parameter] of node.params.entries()) {
    const [target, fallback] = parameter.type === "AssignmentPattern"
      ? [parameter.left, parameter.right]
      : [parameter];
    const value = args[index] ?? fallback;
    if (!value) continue;
    const around = args[index] ? caller : scope;
    for (const [name, node] of namesIn(target, value)) {
      inside = bind(name, { type: "node", node, scope: around }, inside);
    }
  }
  return inside;
}

/** The names in a pattern, with the parts of the value that they stand for. */
export function namesIn(
  target: SyntaxNode,
  value: SyntaxNode,
): (readonly [name: string, value: SyntaxNode])[] {
  const { start, end } = value;
  const member = (property: SyntaxNode, computed: boolean) =>
    ({ type: "MemberExpression", object: value, property, computed, start, end }) as SyntaxNode;
  if (target.type === "Identifier") return [[target.name, value]];
  if (target.type === "ObjectPattern") {
    return target.properties.flatMap((one) =>
      one.type === "Property" ? namesIn(one.value, member(one.key, one.computed)) : []
    );
  }
  if (target.type !== "ArrayPattern") return [];
  return target.elements.flatMap((one, index) => {
    return one ? namesIn(one, member(literalNode(index, value), true)) : [];
  });
}

/** What the last statement of a function returns. */
export function returnOf({ body }: FunctionThing["node"]): SyntaxNode | undefined {
  if (body.type !== "BlockStatement") return body;
  const last = body.body.at(-1);
  return last?.type === "ReturnStatement" ? last.argument ?? undefined : undefined;
}

export function identifier(name: string, { start, end }: SyntaxNode): SyntaxNode {
  return { start, end, type: "Identifier", name } as SyntaxNode;
}

export function literalNode(value: number | null, { start, end }: SyntaxNode): SyntaxNode {
  return { start, end, type: "Literal", value, raw: String(value) } as SyntaxNode;
}

/** Visits the parts of a node, but not the insides of functions. */
export function walk(node: SyntaxNode, visit: (node: SyntaxNode) => void): void {
  visit(node);
  if (/Function/.test(node.type)) return;
  for (const part of Object.values(node)) {
    for (const one of Array.isArray(part) ? part : [part]) if (isNode(one)) walk(one, visit);
  }
}

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value && "start" in value;
}
