import type {
  BinaryExpression,
  Identifier,
  MemberExpression,
  Node,
  SliceExpression,
} from "./parse/ast.ts";
import type { Parsed, ParsedTemplate } from "./expression.ts";
import { childrenOf } from "./parse/tree.ts";

/** A place where an expression reads a name of its scope: `outputs.session.token`. */
export interface Reference {
  /** The name; `vars` also where write `$env.vars`. */
  readonly root: string;
  /** The keys that are written out, up to the first that is computed. */
  readonly keys: readonly ReferenceKey[];
  /** Whether a computed key, an index or a slice follows. */
  readonly isOpen: boolean;
  readonly start: number;
  readonly end: number;
  /** The name alone. */
  readonly base: Identifier;
}

/** A key and where it is written, in UTF-16 offsets of the text. */
export interface ReferenceKey {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** The references of an expression, or of all expressions of a template. */
export interface References {
  readonly references: readonly Reference[];
  /** Those that no `??` replaces where they are nil. */
  readonly needed: readonly Reference[];
  /** References that may be nil, since they are tested or followed by `?.` or `??`; see `keyPath`. */
  readonly tested: ReadonlySet<string>;
}

/** The entry of `tested` for a reference up to the key at an index. */
export function keyPath(root: string, keys: readonly { readonly name: string }[], index: number) {
  return JSON.stringify([root, ...keys.slice(0, index + 1).map(({ name }) => name)]);
}

/** Everything that an expression or a template reads of its scope, in the order of the text. */
export function findReferences(tree: Parsed | ParsedTemplate): References {
  const found: Found = { references: [], needed: [], tested: new Set() };
  const nodes = "node" in tree ? [tree.node] : tree.parts;
  for (const node of nodes) if (typeof node !== "string") walk(node, OUTSIDE, found);
  return found;
}

/** The same for a part of an expression. */
export function referencesIn(node: Node): readonly Reference[] {
  return findReferences({ source: "", node }).references;
}

/** The references in a part of an expression that may have done harm by being nil. */
export function neededIn(node: Node): readonly Reference[] {
  return findReferences({ source: "", node }).needed;
}

/** The names that an expression takes from its scope: not functions, nor what `let` defines. */
export function freeNames(node: Node): readonly Identifier[] {
  return referencesIn(node).map(({ base }) => base);
}

/** The references of which one gives the value of a node as it is: `vars.a`, `vars.a ?? vars.b`. */
export function valueReferences(node: Node): readonly Reference[] {
  if (node.type === "LogicalExpression" && node.operator === "??") {
    return [...valueReferences(node.left), ...valueReferences(node.right)];
  }
  const chain = readChain(node, []);
  return chain ? [chain] : [];
}

interface Found {
  readonly references: Reference[];
  readonly needed: Reference[];
  readonly tested: Set<string>;
}

/** The surroundings of a node. */
interface Around {
  /** Names that `let` defines. */
  readonly bound: readonly string[];
  /** Whether nil is as good as any value here. */
  readonly nilIsFine: boolean;
  /** Whether `??` replaces nil. */
  readonly hasDefault?: boolean;
}

const OUTSIDE: Around = { bound: [], nilIsFine: false };

function walk(node: Node, around: Around, found: Found): void {
  const strict = around.nilIsFine ? { bound: around.bound, nilIsFine: false } : around;
  const lenient = around.nilIsFine ? around : { ...around, nilIsFine: true };
  switch (node.type) {
    case "Identifier":
    case "MemberExpression":
    case "SliceExpression":
    case "ChainExpression":
      walkChain(node, around, found);
      return;
    case "LogicalExpression":
      walk(node.left, node.operator === "??" ? { ...lenient, hasDefault: true } : strict, found);
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
      // A method is an error whatever it is called of.
      for (const child of node.arguments) walk(child, asksType ? lenient : strict, found);
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
  if (!chain || chain.isOpen) return;
  const keys = [...chain.keys, { name: String(left.value) }];
  found.tested.add(keyPath(chain.root, keys, keys.length - 1));
}

function walkChain(node: Node, around: Around, found: Found): void {
  const { links, base } = unroll(node);
  const strict = { bound: around.bound, nilIsFine: false };
  const chain = readChain(node, around.bound);
  if (chain) addChain(chain, around, found);
  else if (base.type !== "Identifier") walk(base, strict, found);
  for (const link of links) for (const part of computedParts(link)) walk(part, strict, found);
}

function addChain(chain: Chain, { nilIsFine, hasDefault }: Around, found: Found): void {
  const { root, keys, isOpen, optionals } = chain;
  found.references.push(chain);
  if (!hasDefault) found.needed.push(chain);
  for (const index of keys.keys()) {
    // The operand of `?.` may be nil.
    if (optionals[index + 1]) found.tested.add(keyPath(root, keys, index));
  }
  if (nilIsFine && !isOpen) found.tested.add(keyPath(root, keys, keys.length - 1));
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

interface Chain extends Reference {
  /** Whether each link begins with `?.`. */
  readonly optionals: readonly boolean[];
}

/** The path that a chain reads of a name; undefined if it does not begin with a name. */
function readChain(node: Node, bound: readonly string[]): Chain | undefined {
  const { links, base } = unroll(node);
  if (base.type !== "Identifier" || bound.includes(base.name)) return undefined;
  const first = base.name === "$env" && links[0] ? keyOf(links[0]) : undefined;
  const root = first?.name ?? base.name;
  const rest = first ? links.slice(1) : links;
  const optionals = rest.map((link) => link.type === "MemberExpression" && link.optional);
  const keys: ReferenceKey[] = [];
  for (const link of rest) {
    const key = keyOf(link);
    if (!key) break;
    keys.push(key);
  }
  const { start, end } = node;
  return { root, keys, isOpen: keys.length < rest.length, start, end, base, optionals };
}

/** The key that a link is written with; undefined for an index, a slice and a computed key. */
function keyOf(link: Link): ReferenceKey | undefined {
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
