import type {
  BinaryExpression,
  CallExpression,
  Identifier,
  MemberExpression,
  Node,
  SliceExpression,
} from "./parse/ast.ts";
import type { Parsed, ParsedTemplate } from "./expression.ts";
import { childrenOf, onlyExpression } from "./parse/tree.ts";

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

/** A reference, and what comes of the whole expression if its value is nil or cannot be read. */
export interface FoundReference extends Reference {
  readonly outcomes: Outcomes;
}

/**
 * How an evaluation certainly ends: it fails, it fails unless it is only shown, its value is nil,
 * or at least not true, or it has the word nil as text. Undefined where it may go well.
 */
export type Ending = "error" | "gap" | "nil" | "said" | "untrue" | undefined;

interface Outcomes {
  readonly error: Ending;
  readonly nil: Ending;
  readonly untrue: Ending;
}

/** A key and where it is written, in UTF-16 offsets of the text. */
interface ReferenceKey {
  readonly name: string;
  readonly start: number;
  readonly end: number;
  /** Whether `?.` is before it. */
  readonly isOptional: boolean;
}

/** The references of an expression, or of all expressions of a template. */
export interface References {
  readonly references: readonly FoundReference[];
  /** References without a `??` that replaces nil. */
  readonly needed: readonly Reference[];
  /** References that may be nil, since they are tested or followed by `?.` or `??`; see `keyPath`. */
  readonly tested: ReadonlySet<string>;
  /** Those of them that may be missing, by `?.`, `??` or `"key" in …`. */
  readonly optional: ReadonlySet<string>;
}

/** The entry of `tested` for a reference up to the key at an index. */
export function keyPath(root: string, keys: readonly { readonly name: string }[], index: number) {
  return JSON.stringify([root, ...keys.slice(0, index + 1).map(({ name }) => name)]);
}

/** Everything that an expression or a template reads of its scope, in the order of the text. */
export function findReferences(
  tree: Parsed | ParsedTemplate,
  refusesNil: RefusesNil = () => false,
): References {
  const found: Found = {
    ...{ references: [], needed: [], tested: new Set(), optional: new Set(), refusesNil },
  };
  const only = "node" in tree ? tree.node : onlyExpression(tree);
  if (only) walk(only, OUTSIDE, found);
  else if (!("node" in tree)) {
    for (const node of tree.parts) if (typeof node !== "string") walk(node, IN_TEXT, found);
  }
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

/** The references whose value can be that of the node: `vars.a`, `vars.a ?? vars.b`. */
export function valueReferences(node: Node): readonly Reference[] {
  if (node.type === "LogicalExpression" && node.operator === "??") {
    return [...valueReferences(node.left), ...valueReferences(node.right)];
  }
  const chain = readChain(node, []);
  return chain ? [chain] : [];
}

interface Found {
  readonly references: FoundReference[];
  readonly needed: Reference[];
  readonly tested: Set<string>;
  readonly optional: Set<string>;
  readonly refusesNil: RefusesNil;
}

/** Whether a call fails if its argument at that position is nil. */
type RefusesNil = (call: CallExpression, position: number) => boolean;

/** The surroundings of a node, and what comes of the whole by the value of the node. */
interface Around extends Outcomes {
  /** Names that `let` defines. */
  readonly bound: readonly string[];
  /** Whether nil is as good as any value here. */
  readonly nilIsFine: boolean;
  /** Whether `??` replaces nil. */
  readonly hasDefault?: boolean;
}

const OUTSIDE: Around = {
  ...{ bound: [], nilIsFine: false },
  ...{ error: "error", nil: "nil", untrue: "untrue" },
};
const IN_TEXT: Around = { ...OUTSIDE, nil: "gap", untrue: undefined };

/** The surroundings of a part that is evaluated in any case, and whose value is not the whole's. */
function inside({ bound, error }: Around): Around {
  return { bound, nilIsFine: false, error, nil: undefined, untrue: undefined };
}

function walk(node: Node, around: Around, found: Found): void {
  const { error, untrue, hasDefault = false } = around;
  const sure = inside(around);
  // A part that may not be evaluated.
  const unsure = { ...around, error: undefined, nil: undefined, untrue: undefined };
  const strict = { ...sure, nil: error };
  const lenient = { ...sure, nilIsFine: true, hasDefault };
  switch (node.type) {
    case "Identifier":
    case "MemberExpression":
    case "SliceExpression":
    case "ChainExpression":
      walkChain(node, around, found);
      return;
    case "LogicalExpression":
      if (node.operator === "&&") {
        // Where one side is not true, the whole is not, whatever the other is.
        walk(node.left, { ...sure, nil: untrue, untrue }, found);
        walk(node.right, { ...around, error: untrue, nil: untrue, untrue }, found);
      } else {
        walk(node.left, node.operator === "??" ? { ...lenient, hasDefault: true } : sure, found);
        walk(node.right, unsure, found);
      }
      return;
    case "ConditionalExpression":
      walk(node.test, sure, found);
      walk(node.consequent, unsure, found);
      walk(node.alternate, unsure, found);
      return;
    case "UnaryExpression":
      walk(node.argument, node.operator === "!" ? lenient : strict, found);
      return;
    case "BinaryExpression": {
      const sides = comparesWithNil(node) ? lenient : { ...sure, nil: ofNil(node, around) };
      walk(node.left, sides, found);
      walk(node.right, node.operator === "in" ? { ...sides, nil: untrue } : sides, found);
      testKey(node, around, found);
      return;
    }
    case "ComparisonChain":
      for (const [index, operand] of childrenOf(node).entries()) {
        walk(operand, index < 2 ? strict : { ...unsure, nilIsFine: false }, found);
      }
      return;
    case "LetExpression":
      walk(node.init, lenient, found);
      walk(node.body, { ...around, bound: [...around.bound, node.id.name] }, found);
      return;
    case "CallExpression": {
      const { name } = node.callee.type === "Identifier" ? node.callee : { name: "" };
      // A method call is always an error.
      for (const [position, child] of node.arguments.entries()) {
        const argument = found.refusesNil(node, position)
          ? strict
          : name === "string"
          ? { ...sure, nil: error && "said" as const }
          : sure;
        walk(child, name === "type" ? lenient : argument, found);
      }
      return;
    }
    case "Predicate":
      walk(node.body, { ...unsure, nilIsFine: false }, found);
      return;
    default:
      for (const child of childrenOf(node)) walk(child, sure, found);
  }
}

/** The outcome if one side of an operator is nil. */
function ofNil({ operator, left, right }: BinaryExpression, { error, untrue }: Around): Ending {
  switch (operator) {
    case "==":
      // Two sides may both be nil.
      return left.type === "Literal" || right.type === "Literal" ? untrue : undefined;
    case "contains":
    case "startsWith":
    case "endsWith":
    case "matches":
      return untrue;
    case "!=":
    case "in":
      return undefined;
    default:
      return error;
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
  const key = keyPath(chain.root, keys, keys.length - 1);
  found.tested.add(key);
  found.optional.add(key);
}

function walkChain(node: Node, around: Around, found: Found): void {
  const { links, base } = unroll(node);
  const sure = inside(around);
  const chain = readChain(node, around.bound);
  if (chain) addChain(chain, around, found);
  else if (base.type !== "Identifier") walk(base, sure, found);
  // What follows a `?.` may not be read.
  const isCut = links.some((link) => link.type === "MemberExpression" && link.optional);
  const computed = isCut ? { ...sure, error: undefined } : sure;
  for (const link of links) for (const part of computedParts(link)) walk(part, computed, found);
}

function addChain(chain: Chain, around: Around, found: Found): void {
  const { root, keys, isOpen, optionals } = chain;
  const { nilIsFine, hasDefault, error, nil, untrue } = around;
  found.references.push({ ...chain, outcomes: { error, nil, untrue } });
  if (!hasDefault) found.needed.push(chain);
  const add = (known: Set<string>, index: number) => known.add(keyPath(root, keys, index));
  for (const index of keys.keys()) {
    const hasWhole = hasDefault && !isOpen && index === keys.length - 1;
    // The operand of `?.` may be nil.
    if (optionals[index + 1] || hasWhole) add(found.optional, index);
    if (optionals[index + 1]) add(found.tested, index);
  }
  if (nilIsFine && !isOpen) add(found.tested, keys.length - 1);
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
  const { computed, property, optional: isOptional } = link;
  const { start, end } = property;
  if (!computed) {
    return property.type === "Identifier"
      ? { name: property.name, start, end, isOptional }
      : undefined;
  }
  if (property.type !== "Literal" || typeof property.value !== "string") return undefined;
  return { name: property.value, start, end, isOptional };
}

function computedParts(link: Link): readonly Node[] {
  if (link.type === "SliceExpression") return [link.from, link.to].filter((part) => part !== null);
  return link.computed ? [link.property] : [];
}
