import type {
  BinaryExpression,
  MemberExpression,
  Node,
  SliceExpression,
} from "../../expr/parse/ast.ts";
import type { Expression, Template } from "../../expr/expression.ts";
import { childrenOf } from "../../expr/parse/tree.ts";

/** The names whose keys are known before a run, of `res` some. */
export type Root = "vars" | "outputs" | "res";

/** A place where an expression reads one of them: `outputs.session.token`. */
export interface Access {
  readonly root: Root;
  /** The keys that are written out, up to the first that is computed. */
  readonly keys: readonly AccessKey[];
  /** Whether a key follows that only the run knows. */
  readonly isOpen: boolean;
}

/** A key and where it stands, in UTF-16 offsets of the text. */
export interface AccessKey {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** What an expression, or all expressions of a template, read. */
export interface Accesses {
  readonly accesses: readonly Access[];
  /** What may be nil without harm, for it is tested or followed by `?.` or `??`; see `keyPath`. */
  readonly tested: ReadonlySet<string>;
}

/** What `tested` holds of an access up to the key at an index. */
export function keyPath(root: Root, keys: readonly { readonly name: string }[], index: number) {
  return JSON.stringify([root, ...keys.slice(0, index + 1).map(({ name }) => name)]);
}

/** Everything that a parsed text reads of the roots. */
export function findAccesses(tree: Expression | Template): Accesses {
  const found: Found = { accesses: [], tested: new Set() };
  const nodes = "node" in tree ? [tree.node] : tree.parts;
  for (const node of nodes) if (typeof node !== "string") walk(node, OUTSIDE, found);
  return found;
}

interface Found {
  readonly accesses: Access[];
  readonly tested: Set<string>;
}

/** What is round a node. */
interface Around {
  /** Names that `let` has brought in. */
  readonly bound: readonly string[];
  /** Whether nil is as good as any value here. */
  readonly nilIsFine: boolean;
}

const OUTSIDE: Around = { bound: [], nilIsFine: false };

function walk(node: Node, around: Around, found: Found): void {
  const strict = around.nilIsFine ? { ...around, nilIsFine: false } : around;
  const lenient = around.nilIsFine ? around : { ...around, nilIsFine: true };
  switch (node.type) {
    case "Identifier":
    case "MemberExpression":
    case "SliceExpression":
    case "ChainExpression":
      walkChain(node, around, found);
      return;
    case "LogicalExpression":
      walk(node.left, node.operator === "??" ? lenient : strict, found);
      walk(node.right, around, found);
      return;
    case "ConditionalExpression":
      walk(node.test, strict, found);
      walk(node.consequent, around, found);
      walk(node.alternate, around, found);
      return;
    case "UnaryExpression":
      walk(node.argument, node.operator === "!" ? lenient : strict, found);
      return;
    case "BinaryExpression": {
      const sides = comparesWithNil(node) ? lenient : strict;
      walk(node.left, sides, found);
      walk(node.right, sides, found);
      testKey(node, around, found);
      return;
    }
    case "LetExpression":
      walk(node.init, lenient, found);
      walk(node.body, { ...around, bound: [...around.bound, node.id.name] }, found);
      return;
    case "CallExpression": {
      const asksType = node.callee.type === "Identifier" && node.callee.name === "type";
      for (const child of childrenOf(node)) walk(child, asksType ? lenient : strict, found);
      return;
    }
    default:
      for (const child of childrenOf(node)) walk(child, strict, found);
  }
}

function comparesWithNil({ operator, left, right }: BinaryExpression): boolean {
  return (operator === "==" || operator === "!=") && (isNil(left) || isNil(right));
}

function isNil(node: Node): boolean {
  return node.type === "Literal" && node.value === null;
}

/** `"a" in vars` asks whether there is vars.a. */
function testKey({ operator, left, right }: BinaryExpression, around: Around, found: Found): void {
  if (operator !== "in" || left.type !== "Literal") return;
  const chain = readChain(right, around.bound);
  if (!chain || chain.rest) return;
  const keys = [...chain.keys, { name: String(left.value) }];
  found.tested.add(keyPath(chain.root, keys, keys.length - 1));
}

function walkChain(node: Node, around: Around, found: Found): void {
  const { links, base } = unroll(node);
  for (const link of links) {
    for (const part of computedParts(link)) walk(part, { ...around, nilIsFine: false }, found);
  }
  const chain = readChain(node, around.bound);
  if (!chain) {
    if (base.type === "Identifier") addWholeScope(base.name, found);
    else walk(base, { ...around, nilIsFine: false }, found);
    return;
  }
  const { root, keys, rest } = chain;
  const isOpen = rest !== undefined;
  found.accesses.push({ root, keys, isOpen });
  const optionals = [...keys.slice(1).map(({ optional }) => optional), rest?.optional ?? false];
  optionals.forEach((optional, index) => {
    if (optional) found.tested.add(keyPath(root, keys, index));
  });
  if (around.nilIsFine && !isOpen) found.tested.add(keyPath(root, keys, keys.length - 1));
}

/** `$env` by itself may be read in any way. */
function addWholeScope(name: string, found: Found): void {
  if (name !== "$env") return;
  for (const root of ["vars", "outputs"] as const) {
    found.accesses.push({ root, keys: [], isOpen: true });
  }
}

type Link = MemberExpression | SliceExpression;

/** A chain of links, the first first, and what it begins with. */
function unroll(node: Node): { readonly links: readonly Link[]; readonly base: Node } {
  const links: Link[] = [];
  let base = node;
  for (;;) {
    if (base.type === "ChainExpression") {
      base = base.expression;
    } else if (base.type === "MemberExpression" || base.type === "SliceExpression") {
      links.unshift(base);
      base = base.object;
    } else return { links, base };
  }
}

interface Chain {
  readonly root: Root;
  readonly keys: readonly (AccessKey & { readonly optional: boolean })[];
  /** What follows the keys. */
  readonly rest?: { readonly optional: boolean };
}

/** What a chain reads of a root; undefined where it begins with something else. */
function readChain(node: Node, bound: readonly string[]): Chain | undefined {
  const { links, base } = unroll(node);
  if (base.type !== "Identifier" || bound.includes(base.name)) return undefined;
  let names = links;
  let root = base.name;
  if (root === "$env") {
    root = (names[0] && keyOf(names[0])?.name) ?? "";
    names = names.slice(1);
  }
  if (root !== "vars" && root !== "outputs" && root !== "res") return undefined;
  const keys: (AccessKey & { optional: boolean })[] = [];
  for (const link of names) {
    const key = keyOf(link);
    const optional = link.type === "MemberExpression" && link.optional;
    if (!key) return { root, keys, rest: { optional } };
    keys.push({ ...key, optional });
  }
  return { root, keys };
}

/** The key that a link is written with; undefined for an index, a slice and a computed key. */
function keyOf(link: Link): AccessKey | undefined {
  if (link.type === "SliceExpression") return undefined;
  const { computed, property } = link;
  const { start, end } = property;
  if (!computed) {
    return property.type === "Identifier" ? { name: property.name, start, end } : undefined;
  }
  if (property.type !== "Literal" || typeof property.value !== "string") return undefined;
  return { name: property.value, start, end };
}

function computedParts(link: Link): readonly Node[] {
  if (link.type === "SliceExpression") return [link.from, link.to].filter((part) => part !== null);
  return link.computed ? [link.property] : [];
}
