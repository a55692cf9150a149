import * as acorn from "acorn";
import { ExpressionError } from "../../base/errors.ts";
import { readInteger } from "../../base/value/value.ts";
import { PlainError } from "../plain_error.ts";
import type { Node } from "./ast.ts";

/** A part of a script of JavaScript. */
export type SyntaxNode = acorn.AnyNode;

export type TokenType = acorn.TokenType;

/** The inside of acorn's parser that the expression parser builds on; its own types hide it. */
interface AcornParser {
  readonly input: string;
  /** The offset of the scanner. */
  pos: number;
  /** The current token. */
  readonly start: number;
  readonly end: number;
  readonly type: TokenType;
  readonly value: unknown;
  /** Where the token before it ends. */
  readonly lastTokEnd: number;
  /** Whether the word just read has a `\u` in it. */
  readonly containsEsc: boolean;
  nextToken(): void;
  skipLineComment(length: number): void;
  next(): void;
  eat(type: TokenType): boolean;
  finishToken(type: TokenType, value?: unknown): void;
  finishOp(type: TokenType, length: number): void;
  readWord1(): string;
  readString(quote: number): void;
  finishNode(node: Node, type: Node["type"]): Node;
  /** An atom and what follows it, read by `parseExprAtom` and `parseSubscript`. */
  parseExprSubscripts(): Node;
  parseSubscripts(base: Node, start: number): Node;
  /** Each item is read by `parseMaybeAssign`. */
  parseExprList(close: TokenType, allowTrailingComma: boolean): Node[];
}

type AcornParserClass = new (options: acorn.Options, input: string) => AcornParser;

const OPTIONS: acorn.Options = { ecmaVersion: 2022, sourceType: "module", allowHashBang: false };

/** Acorn's scanner and node kit, with nothing of JavaScript's grammar chosen yet. */
class Scanner extends (acorn.Parser as unknown as AcornParserClass) {
  constructor(input: string) {
    super(OPTIONS, input);
  }

  /** Acorn tracks here where a regular expression may start; the language has none. */
  updateContext(): void {}
}

const { tokTypes } = acorn;

export const TOKEN = {
  number: tokTypes.num,
  string: tokTypes.string,
  name: tokTypes.name,
  end: tokTypes.eof,
  parenOpen: tokTypes.parenL,
  parenClose: tokTypes.parenR,
  bracketOpen: tokTypes.bracketL,
  bracketClose: tokTypes.bracketR,
  braceOpen: tokTypes.braceL,
  braceClose: tokTypes.braceR,
  comma: tokTypes.comma,
  semicolon: tokTypes.semi,
  colon: tokTypes.colon,
  question: tokTypes.question,
  questionDot: tokTypes.questionDot,
  dot: tokTypes.dot,
  equals: tokTypes.eq,
  operator: tokenType("operator"),
  hash: tokenType("#"),
} as const;

/** The statements of a script or a module of JavaScript, for the importers; throws SyntaxError. */
export function parseScript(
  text: string,
  sourceType: "script" | "module" = "script",
): readonly SyntaxNode[] {
  const options = { allowReturnOutsideFunction: true, allowAwaitOutsideFunction: true };
  return acorn.parse(text, { ...options, sourceType, ecmaVersion: "latest" }).body;
}

function tokenType(label: string): TokenType {
  return new (acorn.TokenType as unknown as new (label: string) => TokenType)(label);
}

/** Binding powers of the binary operators: a higher one binds tighter. */
export const POWER: ReadonlyMap<string, number> = new Map([
  ["|", 0],
  ...each(10, "||", "or"),
  ...each(15, "&&", "and"),
  ...each(20, "==", "!=", "<", "<=", ">", ">="),
  ...each(20, "in", "contains", "matches", "startsWith", "endsWith"),
  ["..", 25],
  ...each(30, "+", "-"),
  ...each(60, "*", "/", "%"),
  ...each(100, "**", "^"),
  ["??", 500],
]);

/** Binding powers of the prefix operators. */
export const PREFIX_POWER: ReadonlyMap<string, number> = new Map([
  ...each(50, "!", "not"),
  ...each(90, "-", "+"),
]);

/** Operators that group from the right: `2 ** 3 ** 2` is 512. */
export const RIGHT_TO_LEFT: ReadonlySet<string> = new Set(["**", "^"]);

/** Operators that chain: `a < b <= c`. */
export const COMPARISONS: ReadonlySet<string> = new Set(["<", "<=", ">", ">="]);

/** Words that test a left side against a right one, and that `not` may precede. */
export const TEST_WORDS: ReadonlySet<string> = new Set([
  "in",
  "contains",
  "matches",
  "startsWith",
  "endsWith",
]);

export const OPERATOR_WORDS: ReadonlySet<string> = new Set(["and", "or", "not", ...TEST_WORDS]);

/** Words with a syntax of their own, which cannot be names. */
export const KEYWORDS: ReadonlySet<string> = new Set(["let", "if", "else"]);

/** The one spelling that the tree knows of an operator that has two. */
export const CANONICAL: ReadonlyMap<string, string> = new Map([
  ["and", "&&"],
  ["or", "||"],
  ["not", "!"],
  ["^", "**"],
]);

function each(power: number, ...operators: string[]): [string, number][] {
  return operators.map((operator) => [operator, power]);
}

/** Cuts a text into the tokens of the language. */
export class Tokenizer extends Scanner {
  readToken(code: number): void {
    if (isNameStart(code)) return this.#readName();
    if (isDigit(code) || code === DOT && isDigit(this.input.charCodeAt(this.pos + 1))) {
      return this.#readNumber();
    }
    if (code === QUOTE || code === APOSTROPHE) return this.readString(code);
    if (code === BACKTICK) return this.#readRawString();
    const two = this.input.slice(this.pos, this.pos + 2);
    const one = two.charAt(0);
    if (two === "?.") return this.finishOp(TOKEN.questionDot, 2);
    if (OPERATORS.has(two)) return this.finishOp(TOKEN.operator, 2);
    if (OPERATORS.has(one)) return this.finishOp(TOKEN.operator, 1);
    const punctuation = PUNCTUATION.get(one);
    if (punctuation) return this.finishOp(punctuation, 1);
    this.#refuseCharacter();
  }

  #readName(): void {
    const word = this.readWord1();
    if (word === "") this.#refuseCharacter();
    if (this.containsEsc) this.#refuseBackslash();
    this.finishToken(OPERATOR_WORDS.has(word) ? TOKEN.operator : TOKEN.name, word);
  }

  /** `1..3` is a range and `1.` a number, `010` is ten, and there is no `1n`. */
  #readNumber(): void {
    const text = matchAt(NUMBER, this.input, this.pos)?.[0] ?? "";
    this.pos += text.length;
    const rest = matchAt(NAME_PART, this.input, this.pos)?.[0];
    if (rest !== undefined) {
      const hint = rest.toLowerCase() === "xx"
        ? `write ${text}00 <= res.code < ${Number(text) + 1}00`
        : /^(?:[uµ]?s|ms|m|h)$/.test(rest)
        ? `a duration is a number of seconds: write duration("${text}${rest}")`
        : undefined;
      const message = `invalid number "${text}${rest}"`;
      const end = this.pos + rest.length;
      if (hint !== undefined) this.fail(message, this.start, end, hint);
      const { start, input } = this;
      const misfit = { kind: "misfit", input, start, end, isNumber: true } as const;
      throw new PlainError(message, misfit, hint, misfit);
    }
    const plain = text.replaceAll("_", "");
    const number = Number(plain);
    if (Number.isNaN(number)) this.fail(`invalid number "${text}"`, this.start, this.pos);
    if (number === Infinity) this.fail("this number is too large", this.start, this.pos);
    const value = /^0[xob]|^\d+$/i.test(plain) ? readInteger(plain) : number;
    this.finishToken(TOKEN.number, value);
  }

  /** Between backticks nothing is an escape; two of them make one. */
  #readRawString(): void {
    const from = this.pos + 1;
    let to = this.input.indexOf("`", from);
    while (to >= 0 && this.input[to + 1] === "`") to = this.input.indexOf("`", to + 2);
    if (to < 0) this.fail("unterminated string", this.start, this.start + 1);
    this.pos = to + 1;
    this.finishToken(TOKEN.string, this.input.slice(from, to).replaceAll("``", "`"));
  }

  /** Called by acorn at a backslash in a string. */
  readEscapedChar(): string {
    const at = this.pos;
    const [whole, simple, short, bmp, braced, long, octal] = matchAt(ESCAPE, this.input, at) ?? [];
    if (whole === undefined) {
      const text = String.fromCodePoint(92, this.input.codePointAt(at + 1) ?? 92);
      const hint = "write \\\\ for a backslash, or a string between `backticks`";
      this.fail(`unknown escape ${text}`, at, at + text.length, hint);
    }
    this.pos += whole.length;
    if (simple !== undefined) return SIMPLE_ESCAPES.get(simple) ?? simple;
    const hex = short ?? bmp ?? braced ?? long;
    const code = hex === undefined ? parseInt(octal ?? "", 8) : parseInt(hex, 16);
    if (code > 0x10ffff) this.fail(`invalid character ${whole}`, at, this.pos);
    return String.fromCodePoint(code);
  }

  #refuseCharacter(): never {
    const character = String.fromCodePoint(this.input.codePointAt(this.start) ?? 0);
    const hint = CHARACTER_HINTS.get(character);
    this.fail(`unexpected ${JSON.stringify(character)}`, this.start, this.start + 1, hint);
  }

  /** All that acorn itself finds wrong: a string or a comment without an end, a stray backslash. */
  raise(position: number, message: string): never {
    const what = /^Unterminated (comment|string)/.exec(message)?.[1];
    if (what === undefined) this.#refuseBackslash();
    this.fail(`unterminated ${what}`, position, position + 1);
  }

  #refuseBackslash(): never {
    this.fail("a name cannot hold a backslash", this.start, this.pos);
  }

  fail(message: string, start: number, end: number, hint?: string): never {
    throw new ExpressionError(message, start, Math.max(end, start + 1), hint);
  }
}

const [QUOTE, APOSTROPHE, BACKTICK, DOT] = [34, 39, 96, 46];

const OPERATORS: ReadonlySet<string> = new Set(
  ["||", "&&", "==", "!=", "<=", ">=", "**", "??", "..", ..."|!<>+-*/%^"],
);

const PUNCTUATION: ReadonlyMap<string, TokenType> = new Map([
  ["(", TOKEN.parenOpen],
  [")", TOKEN.parenClose],
  ["[", TOKEN.bracketOpen],
  ["]", TOKEN.bracketClose],
  ["{", TOKEN.braceOpen],
  ["}", TOKEN.braceClose],
  [",", TOKEN.comma],
  [";", TOKEN.semicolon],
  [":", TOKEN.colon],
  ["?", TOKEN.question],
  [".", TOKEN.dot],
  ["=", TOKEN.equals],
  ["#", TOKEN.hash],
]);

/** A hint for a character that has no meaning here. */
const CHARACTER_HINTS: ReadonlyMap<string, string> = new Map([
  ["&", "write && for and"],
  ["~", 'for a pattern write text matches "^a+$"'],
  ...[..."“”„‘’«»"].map((quote) => [quote, 'write a straight quote: "'] as const),
]);

const NUMBER =
  /0x[\da-f_]+|0b[01_]+|0o[0-7_]+|(?:\d[\d_]*(?:\.(?!\.)[\d_]*)?|\.\d[\d_]*)(?:e[+-]?\d[\d_]*)?/iy;
const NAME_PART = /[\p{L}\d_$]+/uy;
const ESCAPE =
  /\\(?:([abfnrtv\\'"`?])|x([\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]{1,6})\}|U([\da-fA-F]{8})|([0-3][0-7]{2}))/y;

const SIMPLE_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["a", "\x07"],
  ["b", "\b"],
  ["f", "\f"],
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["v", "\v"],
]);

/** The match of a sticky pattern at a position. */
function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | null {
  pattern.lastIndex = at;
  return pattern.exec(text);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

function isNameStart(code: number): boolean {
  const lower = code | 32;
  return lower >= 97 && lower <= 122 || code === 95 || code === 36 || code > 127;
}
