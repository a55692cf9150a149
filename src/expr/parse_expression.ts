import { ExpressionError } from "../base/errors.ts";
import type { Path } from "../base/source.ts";
import { evaluate } from "./evaluate/evaluate.ts";
import type { DataTemplate, Expression, Scope, Template } from "./expression.ts";
import type {
  BinaryExpression,
  CallExpression,
  Comparison,
  Identifier,
  Literal,
  LogicalExpression,
  Node,
  Pointer,
  Property,
} from "./parse/ast.ts";
import { childrenOf, onlyExpression } from "./parse/tree.ts";
import { holdsTemplates, renderOnly, renderText } from "./template.ts";
import { PlainError } from "./plain_error.ts";
import { FUNCTIONS, takesPredicate } from "./functions/registry.ts";
import { LIMITS } from "./limits.ts";
import {
  CANONICAL,
  COMPARISONS,
  KEYWORDS,
  OPERATOR_WORDS,
  POWER,
  PREFIX_POWER,
  RIGHT_TO_LEFT,
  TEST_WORDS,
  TOKEN,
  Tokenizer,
  type TokenType,
} from "./parse/tokenizer.ts";

/** Reads a bare expression. Throws `ExpressionError` at the first mistake of syntax. */
export function parseExpression(source: string): Expression {
  const parsed = { source, node: new Parser(source).parse() };
  return { ...parsed, evaluate: (scope) => evaluate(parsed, scope) };
}

/**
 * Reads a text with `{{ … }}` in it. Braces without an end are text. Throws `ExpressionError` at the
 * first mistake of syntax.
 */
export function parseTemplate(source: string): Template {
  const parsed = { source, parts: new Parser(source).parseTemplate() };
  const only = onlyExpression(parsed);
  const asText: Template["renderText"] = (scope, options) => renderText(parsed, scope, options);
  return {
    ...parsed,
    render: only ? (scope, options) => renderOnly(only, source, scope, options) : asText,
    renderText: asText,
  };
}

/** The text of a template that reads only these names; undefined if it reads more, or calls. */
export function knownText(source: string, names: Scope["names"] = {}): string | undefined {
  try {
    const template = parseTemplate(source);
    if (template.parts.some((part) => typeof part !== "string" && hasCall(part))) return undefined;
    const value = template.render({ names, strict: true });
    return typeof value === "string" ? value : undefined;
  } catch (error) {
    if (error instanceof ExpressionError) return undefined;
    throw error;
  }
}

function hasCall(node: Node): boolean {
  return node.type === "CallExpression" || childrenOf(node).some(hasCall);
}

/** Reads the strings in plain data as templates. Keys are never templates. */
export function parseData(value: unknown): { template: DataTemplate; errors: ExpressionError[] } {
  const errors: ExpressionError[] = [];
  if (!holdsTemplates(value)) return { template: { kind: "constant", value }, errors };
  return { template: parsePart(value, [], errors), errors };
}

function parsePart(value: unknown, path: Path, errors: ExpressionError[]): DataTemplate {
  if (typeof value === "string") return parseString(value, path, errors);
  if (Array.isArray(value)) {
    const items = value.map((item, index) => parsePart(item, [...path, index], errors));
    return items.every(isConstant) ? { kind: "constant", value } : { kind: "list", items };
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).map(([key, field]) =>
      [key, parsePart(field, [...path, key], errors)] as const
    );
    return entries.every(([, field]) => isConstant(field))
      ? { kind: "constant", value }
      : { kind: "map", entries };
  }
  return { kind: "constant", value };
}

function parseString(text: string, path: Path, errors: ExpressionError[]): DataTemplate {
  try {
    const template = parseTemplate(text);
    const isText = template.parts.every((part) => typeof part === "string");
    return isText ? { kind: "constant", value: text } : { kind: "template", template };
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    errors.push(error.within(path));
    return { kind: "constant", value: text };
  }
}

function isConstant(template: DataTemplate): boolean {
  return template.kind === "constant";
}

/** Every template in the data, with the path to its string. */
export function* templatesIn(
  data: DataTemplate,
  path: Path = [],
): Generator<{ readonly path: Path; readonly template: Template }> {
  switch (data.kind) {
    case "constant":
      return;
    case "template":
      yield { path, template: data.template };
      return;
    case "list":
      for (const [index, item] of data.items.entries()) yield* templatesIn(item, [...path, index]);
      return;
    case "map":
      for (const [key, field] of data.entries) yield* templatesIn(field, [...path, key]);
  }
}

export const COMMENT_HINT = "a comment is written // … or /* … */";

/** The base of all grammar rules: looks at tokens, refuses them and makes nodes. */
class TokenReader extends Tokenizer {
  #nodes = 0;
  /** The whole expression is at level 0. */
  #depth = -1;
  #inTemplate = false;

  /** Goes to the expression after the `{{` at `open`, which has limits of its own. */
  startTemplate(open: number): void {
    this.#inTemplate = true;
    this.#nodes = 0;
    this.#depth = -1;
    this.pos = open + 2;
    this.nextToken();
  }

  /** Called by acorn at `//`: a comment ends with its line, or before the end of a template. */
  override skipLineComment(length: number): void {
    super.skipLineComment(length);
    if (!this.#inTemplate) return;
    const close = this.input.indexOf("}}", this.end);
    if (close >= 0 && close < this.pos) this.pos = close;
  }

  /** Counts a node; acorn finishes its own through `finishNode`. */
  finish<T extends Node>(node: T): T {
    if (++this.#nodes > LIMITS.nodes) {
      this.fail(`this expression has more than ${LIMITS.nodes} parts`, node.start, node.start + 1);
    }
    return node;
  }

  override finishNode(node: Node, type: Node["type"]): Node {
    return this.finish(super.finishNode(node, type));
  }

  /** Counts a level of the tree, until `leave`. */
  enter(): void {
    if (++this.#depth > LIMITS.depth) {
      const message = `this expression is nested more than ${LIMITS.depth} levels deep`;
      this.fail(message, this.start, this.end);
    }
  }

  leave(): void {
    this.#depth--;
  }

  isWord(word: string): boolean {
    return this.type === TOKEN.name && this.value === word;
  }

  /** The word after the current token. */
  wordAhead(): string {
    NEXT_WORD.lastIndex = this.end;
    return NEXT_WORD.exec(this.input)?.[1] ?? "";
  }

  /** Called by acorn too, between the items of a list. */
  expect(type: TokenType): void {
    if (this.eat(type)) return;
    this.unexpected(type === TOKEN.comma ? '"," or a closing bracket' : `"${type.label}"`);
  }

  unexpected(wanted?: string): never {
    const { input, start, end } = this;
    const inTemplate = this.#inTemplate;
    const got = this.type === TOKEN.end
      ? `unexpected end of the ${inTemplate ? "text" : "expression"}`
      // The content of a string may be a secret.
      : this.type === TOKEN.string
      ? "unexpected string"
      : `unexpected ${quoted(input.slice(start, end))}`;
    const message = wanted === undefined ? got : `${got}, expected ${wanted}`;
    const isBehind = wanted === undefined;
    const misfit = { kind: "misfit", input, start, end, inTemplate, isBehind } as const;
    throw new PlainError(message, { start, end: Math.max(end, start + 1) }, undefined, misfit);
  }

  refuseLength(start: number): never {
    this.fail(`an expression is longer than ${LIMITS.source} characters`, start, start + 1);
  }
}

/** The half of the grammar that is about operands: names, literals, members, calls. */
abstract class OperandParser extends TokenReader {
  /** The number of open predicates: inside one, `#` and `.name` have a meaning. */
  #predicates = 0;

  /** `a; b; c`, the widest expression that parentheses or braces may contain. */
  abstract parseExpression(): Node;

  /** One expression, as in a list or an argument; the name is acorn's. */
  abstract parseMaybeAssign(): Node;

  /** The beginning of an operand; acorn continues with `parseSubscript`. */
  parseExprAtom(): Node {
    switch (this.type) {
      case TOKEN.number:
        return this.#literal(this.value as number);
      case TOKEN.string:
        return this.#literal(this.value as string);
      case TOKEN.name:
        return this.#parseWord();
      case TOKEN.parenOpen: {
        this.next();
        const inner = this.parseExpression();
        this.expect(TOKEN.parenClose);
        return inner;
      }
      case TOKEN.bracketOpen: {
        const start = this.start;
        this.next();
        const elements = this.parseExprList(TOKEN.bracketClose, true);
        return this.finish({ type: "ArrayExpression", start, end: this.lastTokEnd, elements });
      }
      case TOKEN.braceOpen:
        return this.#parseMap();
      case TOKEN.hash:
        return this.#parsePointer();
      case TOKEN.dot: // `.name` is `#.name`: the pointer is empty, and the dot is read after it
        if (this.#predicates > 0) return this.#pointer(this.start, this.start, "");
        break;
      case TOKEN.operator: // `contains(a, b)`: a test word as a function
        if (TEST_WORDS.has(String(this.value)) && this.input[this.end] === "(") {
          return this.parseName(true);
        }
    }
    this.unexpected("a value");
  }

  #parseWord(): Node {
    switch (this.value) {
      case "true":
        return this.#literal(true);
      case "false":
        return this.#literal(false);
      case "nil":
      case "null":
        return this.#literal(null);
      default:
        return this.parseName();
    }
  }

  #parsePointer(): Node {
    const { start, end } = this;
    if (this.#predicates === 0) {
      const isComment = /^#+[ \t]+\p{L}/u.test(this.input.slice(start, start + 100));
      const hint = isComment
        ? COMMENT_HINT
        : "it is the item inside filter(list, # > 1) and the like";
      this.fail("# is only allowed in a predicate", start, end, hint);
    }
    this.next();
    if (this.type !== TOKEN.name || this.start !== this.lastTokEnd) {
      return this.#pointer(start, end, "");
    }
    const name = this.value;
    if (name !== "acc" && name !== "index") {
      this.fail(`unknown pointer #${name}`, start, this.end, "use #, #acc or #index");
    }
    this.next();
    return this.#pointer(start, this.lastTokEnd, name);
  }

  /** One of `.x`, `?.x`, `[i]`, `?.[i]`, `[a:b]` and `(…)`; the base itself where none follows. */
  parseSubscript(base: Node, start: number): Node {
    const optional = this.eat(TOKEN.questionDot);
    if (this.eat(TOKEN.bracketOpen)) return this.#parseBracket(base, start, optional);
    if (optional || this.eat(TOKEN.dot)) {
      const property = this.parseName(true);
      const end = this.lastTokEnd;
      const computed = false;
      return this.finish({
        type: "MemberExpression",
        start,
        end,
        object: base,
        property,
        computed,
        optional,
      });
    }
    const callable = base.type === "Identifier" || base.type === "MemberExpression";
    if (!callable || !this.eat(TOKEN.parenOpen)) return base;
    return this.call(base, this.parseArguments(base, []), start, false);
  }

  #parseBracket(object: Node, start: number, optional: boolean): Node {
    const from = this.type === TOKEN.colon ? null : this.parseMaybeAssign();
    if (from !== null && this.eat(TOKEN.bracketClose)) {
      const end = this.lastTokEnd;
      const computed = true;
      const property = from;
      return this.finish({
        type: "MemberExpression",
        start,
        end,
        object,
        property,
        computed,
        optional,
      });
    }
    if (!this.eat(TOKEN.colon)) this.unexpected('"]"');
    const to = this.type === TOKEN.bracketClose ? null : this.parseMaybeAssign();
    this.expect(TOKEN.bracketClose);
    return this.finish({ type: "SliceExpression", start, end: this.lastTokEnd, object, from, to });
  }

  parseArguments(callee: Node, args: Node[]): Node[] {
    // Methods do not exist; reading one like a function allows a precise error.
    const isMethod = callee.type === "MemberExpression";
    const named = isMethod ? callee.property : callee;
    const name = named.type === "Identifier" ? named.name : "";
    while (!this.eat(TOKEN.parenClose)) {
      args.push(this.#parseArgument(name, args.length + (isMethod ? 1 : 0)));
      if (this.type !== TOKEN.parenClose) this.expect(TOKEN.comma);
    }
    return args;
  }

  #parseArgument(name: string, position: number): Node {
    if (takesPredicate(name, position)) return this.#parsePredicate();
    if (position === 0 || FUNCTIONS.has(name)) return this.parseMaybeAssign();
    // A slip in the name of a function that takes a predicate: it is the name that is wrong.
    this.#predicates++;
    const argument = this.parseMaybeAssign();
    this.#predicates--;
    return argument;
  }

  #parsePredicate(): Node {
    const start = this.start;
    this.#predicates++;
    const body = this.type === TOKEN.braceOpen ? this.parseBlock() : this.parseMaybeAssign();
    this.#predicates--;
    return this.finish({ type: "Predicate", start, end: this.lastTokEnd, body });
  }

  #parseMap(): Node {
    const start = this.start;
    this.next();
    const properties: Property[] = [];
    while (!this.eat(TOKEN.braceClose)) {
      const { start } = this;
      const key = this.#parseKey();
      this.expect(TOKEN.colon);
      const value = this.parseMaybeAssign();
      properties.push({ type: "Property", start, end: this.lastTokEnd, key, value });
      if (this.type !== TOKEN.braceClose) this.expect(TOKEN.comma);
    }
    return this.finish({ type: "ObjectExpression", start, end: this.lastTokEnd, properties });
  }

  #parseKey(): Node {
    if (this.eat(TOKEN.parenOpen)) {
      const key = this.parseExpression();
      this.expect(TOKEN.parenClose);
      return key;
    }
    if (this.type === TOKEN.string || this.type === TOKEN.number) {
      return this.#literal(String(this.value));
    }
    const { start, end, name } = this.parseName(true);
    return this.finish({ type: "Literal", start, end, value: name });
  }

  /** A name; where only a name is possible, any word is one. */
  parseName(anyWord = false): Identifier {
    const name = String(this.value);
    const isName = this.type === TOKEN.name && (anyWord || !KEYWORDS.has(name)) ||
      anyWord && this.type === TOKEN.operator && OPERATOR_WORDS.has(name);
    if (!isName) this.unexpected("a name");
    const { start, end } = this;
    this.next();
    return this.finish({ type: "Identifier", start, end, name });
  }

  #literal(value: Literal["value"]): Node {
    const { start, end } = this;
    this.next();
    return this.finish({ type: "Literal", start, end, value });
  }

  #pointer(start: number, end: number, name: Pointer["name"]): Node {
    return this.finish({ type: "Pointer", start, end, name });
  }

  call(callee: Node, args: readonly Node[], start: number, piped: boolean): CallExpression {
    const end = this.lastTokEnd;
    return this.finish({ type: "CallExpression", start, end, callee, arguments: args, piped });
  }

  parseBlock(): Node {
    this.expect(TOKEN.braceOpen);
    const body = this.parseExpression();
    this.expect(TOKEN.braceClose);
    return body;
  }
}

const NEXT_WORD = /\s*([A-Za-z]+)(?![\w$])/y;

/** Half of a long word could be half a secret, which no report would recognize. */
function quoted(token: string): string {
  return token.length <= 20 ? `"${token}"` : `word of ${token.length} characters`;
}

/**
 * The grammar of the language. Acorn supplies the scanner and the loop over subscripts, and calls
 * the methods that have its names; what decides the grammar is here, so that no construct of
 * JavaScript can be reached.
 */
class Parser extends OperandParser {
  /** The whole text as one expression. */
  parse(): Node {
    if (this.input.length > LIMITS.source) this.refuseLength(0);
    this.nextToken();
    const node = this.parseExpression();
    if (this.type !== TOKEN.end) this.unexpected();
    return node;
  }

  /**
   * The whole text as a template. The grammar of the expressions decides where each one ends, so
   * that braces and strings inside it cause no problem.
   */
  parseTemplate(): readonly (string | Node)[] {
    const parts: (string | Node)[] = [];
    let from = 0;
    for (let open = this.#nextBraces(0); open >= 0; open = this.#nextBraces(from)) {
      if (open > from) parts.push(this.input.slice(from, open));
      const [node, end] = this.#parseBraces(open);
      parts.push(node);
      from = end;
    }
    if (from < this.input.length || parts.length === 0) parts.push(this.input.slice(from));
    return parts;
  }

  /** The offset of the next `{{` that has a `}}` after it, or -1. */
  #nextBraces(from: number): number {
    const open = this.input.indexOf("{{", from);
    return open >= 0 && this.input.indexOf("}}", open + 2) >= 0 ? open : -1;
  }

  /** The expression after the `{{` that begins at `open`, and where the text goes on. */
  #parseBraces(open: number): [node: Node, end: number] {
    this.startTemplate(open);
    if (this.type === TOKEN.braceClose) {
      this.fail(
        "empty expression",
        open,
        this.end + 1,
        'for the text {{ write {{ "{{" }}',
      );
    }
    const node = this.parseExpression();
    if (this.type !== TOKEN.braceClose || this.input[this.end] !== "}") this.unexpected('"}}"');
    const end = this.end + 1;
    if (end - open > LIMITS.source) this.refuseLength(open);
    return [node, end];
  }

  /** `a; b; c`. */
  parseExpression(): Node {
    const start = this.start;
    const first = this.parseMaybeAssign();
    if (this.type !== TOKEN.semicolon) return first;
    const expressions = [first];
    while (this.eat(TOKEN.semicolon) && this.type !== TOKEN.end) {
      expressions.push(this.parseMaybeAssign());
    }
    if (expressions.length === 1) return first;
    return this.finish({ type: "SequenceExpression", start, end: this.lastTokEnd, expressions });
  }

  /** One expression, as in a list or an argument; the name is acorn's. */
  parseMaybeAssign(): Node {
    this.enter();
    const node = this.isWord("let")
      ? this.#parseLet()
      : this.isWord("if")
      ? this.#parseIf()
      : this.#parseConditional();
    this.leave();
    return node;
  }

  #parseConditional(): Node {
    const start = this.start;
    const test = this.#parseOperators(0);
    if (!this.eat(TOKEN.question)) return test;
    const consequent = this.type === TOKEN.colon ? test : this.parseMaybeAssign();
    this.expect(TOKEN.colon);
    const alternate = this.parseMaybeAssign();
    const end = this.lastTokEnd;
    return this.finish({ type: "ConditionalExpression", start, end, test, consequent, alternate });
  }

  #parseLet(): Node {
    const start = this.start;
    this.next();
    const id = this.parseName();
    this.expect(TOKEN.equals);
    const init = this.parseMaybeAssign();
    this.expect(TOKEN.semicolon);
    const body = this.parseExpression();
    return this.finish({ type: "LetExpression", start, end: this.lastTokEnd, id, init, body });
  }

  #parseIf(): Node {
    const start = this.start;
    this.next();
    const test = this.parseMaybeAssign();
    const consequent = this.parseBlock();
    if (!this.isWord("else")) this.unexpected('"else"');
    this.next();
    this.enter();
    const alternate = this.isWord("if") ? this.#parseIf() : this.parseBlock();
    this.leave();
    const end = this.lastTokEnd;
    return this.finish({ type: "ConditionalExpression", start, end, test, consequent, alternate });
  }

  /** Operands and operators that bind at least so tight. */
  #parseOperators(power: number): Node {
    const start = this.start;
    let left = this.parseMaybeUnary();
    let fallback = false; // whether the operator before was ??
    while (this.type === TOKEN.operator) {
      const operatorStart = this.start;
      const word = this.value === "not" ? this.wordAhead() : "";
      const negated = TEST_WORDS.has(word);
      const operator = negated ? word : String(this.value);
      const strength = POWER.get(operator);
      if (strength === undefined || strength < power) break;
      if (fallback && operator !== "??" && operator !== "|") {
        const hint = "put parentheses around one of them";
        this.fail(`?? cannot be combined with ${operator}`, operatorStart, this.end, hint);
      }
      if (negated) this.next();
      this.next();
      if (operator === "|") {
        left = this.#parsePipe(left, start);
      } else if (COMPARISONS.has(operator)) {
        left = this.#parseComparison(left, start, operator as Comparison);
      } else {
        const right = RIGHT_TO_LEFT.has(operator)
          ? this.#parseDeeper(strength)
          : this.#parseOperators(strength + 1);
        left = this.#binary(operator, start, left, right);
        if (negated) left = this.#not(left);
      }
      fallback = operator === "??";
    }
    return left;
  }

  /** The same, counted as a level: a prefix or a right-associative operator may repeat without end. */
  #parseDeeper(power: number): Node {
    this.enter();
    const node = this.#parseOperators(power);
    this.leave();
    return node;
  }

  /** `a < b <= c` means `a < b && b <= c`. */
  #parseComparison(left: Node, start: number, first: Comparison): Node {
    const comparisons: BinaryExpression[] = [];
    for (let [operator, from] = [first, start];; from = left.start) {
      const right = this.#parseOperators(POWER.get(first)! + 1);
      comparisons.push(this.#binary(operator, from, left, right) as BinaryExpression);
      if (this.type !== TOKEN.operator || !COMPARISONS.has(String(this.value))) break;
      operator = this.value as Comparison;
      left = right;
      this.next();
    }
    if (comparisons.length === 1) return comparisons[0]!;
    return this.finish({ type: "ComparisonChain", start, end: this.lastTokEnd, comparisons });
  }

  /** `x | f(a)` is `f(x, a)`; without arguments the parentheses may be left out. */
  #parsePipe(left: Node, start: number): Node {
    const callee = this.parseName(true);
    const args = this.eat(TOKEN.parenOpen) ? this.parseArguments(callee, [left]) : [left];
    return this.parseSubscripts(this.call(callee, args, start, true), start);
  }

  /** An operand with the prefixes before it. */
  parseMaybeUnary(): Node {
    const power = this.type === TOKEN.operator ? PREFIX_POWER.get(String(this.value)) : undefined;
    if (power === undefined) return this.parseExprSubscripts();
    const start = this.start;
    const operator = canonical(String(this.value)) as "!" | "-" | "+";
    this.next();
    const argument = this.#parseDeeper(power);
    return this.finish({
      type: "UnaryExpression",
      start,
      end: this.lastTokEnd,
      operator,
      argument,
    });
  }

  #binary(written: string, start: number, left: Node, right: Node): Node {
    const operator = canonical(written);
    const where = { start, end: this.lastTokEnd, left, right };
    return operator === "&&" || operator === "||" || operator === "??"
      ? this.finish<LogicalExpression>({ type: "LogicalExpression", operator, ...where })
      : this.finish<BinaryExpression>({
        type: "BinaryExpression",
        operator: operator as BinaryExpression["operator"],
        ...where,
      });
  }

  #not(argument: Node): Node {
    const { start, end } = argument;
    return this.finish({ type: "UnaryExpression", start, end, operator: "!", argument });
  }
}

function canonical(operator: string): string {
  return CANONICAL.get(operator) ?? operator;
}
