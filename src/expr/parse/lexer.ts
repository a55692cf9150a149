import { ExpressionError } from "../../base/errors.ts";
import { readInteger } from "../../base/value/value.ts";
import { hyphenNumberHint } from "../hints/hyphen_hint.ts";
import { syntaxHint } from "../hints/syntax_hint.ts";
import { OPERATOR_WORDS } from "./operators.ts";

const PUNCTUATION = [
  "(",
  ")",
  "[",
  "]",
  "{",
  "}",
  ",",
  ";",
  ":",
  "?",
  "?.",
  ".",
  "=",
  "#",
] as const;

/** The kind of a token: its text, where it has only one. */
export type TokenType =
  | (typeof PUNCTUATION)[number]
  | "number"
  | "string"
  | "name"
  | "operator"
  | "end";

const OPERATORS: readonly string[] = [
  ...["||", "&&", "==", "!=", "<=", ">=", "**", "??", "..", ..."|!<>+-*/%^"],
];

/** Splits a text into tokens, and reports unexpected ones. */
export class Lexer {
  /** The current token. */
  type: TokenType = "end";
  value: string | number | bigint = "";
  start = 0;
  end = 0;
  /** Where the token before it ends. */
  lastEnd = 0;
  /** Whether the expression is between `{{` and `}}`. */
  inTemplate = false;

  constructor(readonly input: string) {}

  /** Goes on to the first token at an offset. */
  startAt(offset: number): void {
    this.end = offset;
    this.next();
  }

  /** Goes on to the next token. */
  next(): void {
    this.lastEnd = this.end;
    this.start = this.#skipSpace(this.end);
    if (this.start >= this.input.length) return this.#finish("end", this.start);
    const character = this.input[this.start]!;
    if (/[A-Za-z_$]|[^\0-\x7f]/.test(character)) return this.#readName();
    if (/\d|\.\d/y.test(this.input.slice(this.start, this.start + 2))) return this.#readNumber();
    if (character === '"' || character === "'") return this.#readString(character);
    if (character === "`") return this.#readRawString();
    const two = this.input.slice(this.start, this.start + 2);
    for (const text of [two, character]) {
      if (OPERATORS.includes(text)) {
        return this.#finish("operator", this.start + text.length, text);
      }
      const punctuation = PUNCTUATION.find((one) => one === text);
      if (punctuation) return this.#finish(punctuation, this.start + text.length);
    }
    this.#refuseCharacter();
  }

  #finish(type: TokenType, end: number, value: string | number | bigint = ""): void {
    this.type = type;
    this.value = value;
    this.end = end;
  }

  /** The offset of what follows white space and comments. */
  #skipSpace(from: number): number {
    let offset = from;
    for (;;) {
      offset += matchAt(/\s*/y, this.input, offset)![0].length;
      const opening = this.input.slice(offset, offset + 2);
      if (opening === "//") {
        const line = matchAt(/.*/y, this.input, offset)![0];
        // A comment ends with its line, or before the end of a template.
        const close = this.inTemplate ? line.indexOf("}}") : -1;
        offset += close >= 0 ? close : line.length;
      } else if (opening === "/*") {
        const close = this.input.indexOf("*/", offset + 2);
        if (close < 0) this.fail("unterminated comment", offset, offset + 1);
        offset = close + 2;
      } else return offset;
    }
  }

  #readName(): void {
    const word = matchAt(NAME, this.input, this.start)?.[0];
    if (word === undefined) this.#refuseCharacter();
    const end = this.start + word.length;
    const escape = matchAt(/\\(?:u[\da-fA-F{}]*)?/y, this.input, end)?.[0];
    if (escape !== undefined) {
      this.fail("a name cannot hold a backslash", this.start, end + escape.length);
    }
    this.#finish(OPERATOR_WORDS.has(word) ? "operator" : "name", end, word);
  }

  /** `1..3` is a range and `1.` a number, `010` is ten, and there is no `1n`. */
  #readNumber(): void {
    const text = matchAt(NUMBER, this.input, this.start)?.[0] ?? "";
    const end = this.start + text.length;
    const rest = matchAt(NAME_PART, this.input, end)?.[0];
    if (rest !== undefined) {
      const hint = rest.toLowerCase() === "xx"
        ? `write ${text}00 <= res.code < ${Number(text) + 1}00`
        : /^(?:[uµ]?s|ms|m|h)$/.test(rest)
        ? `a duration is a number of seconds: write duration("${text}${rest}")`
        : hyphenNumberHint(text, this.start, this.input);
      this.fail(`invalid number "${text}${rest}"`, this.start, end + rest.length, hint);
    }
    const plain = text.replaceAll("_", "");
    const number = Number(plain);
    if (Number.isNaN(number)) this.fail(`invalid number "${text}"`, this.start, end);
    if (number === Infinity) this.fail("this number is too large", this.start, end);
    const isInteger = /^0[xob]|^\d+$/i.test(plain);
    this.#finish("number", end, isInteger ? readInteger(plain)! : number);
  }

  #readString(quote: string): void {
    let text = "";
    for (let offset = this.start + 1;;) {
      const character = this.input[offset];
      if (character === undefined || character === "\n" || character === "\r") {
        this.#refuseUnterminated();
      }
      if (character === quote) return this.#finish("string", offset + 1, text);
      const [part, length] = character === "\\" ? this.#readEscape(offset) : [character, 1];
      text += part;
      offset += length;
    }
  }

  /** The character that an escape means, and the length of the escape. */
  #readEscape(offset: number): [character: string, length: number] {
    const [whole, simple, short, bmp, braced, long, octal] = matchAt(ESCAPE, this.input, offset) ??
      [];
    if (whole === undefined) {
      const text = String.fromCodePoint(92, this.input.codePointAt(offset + 1) ?? 92);
      const hint = "write \\\\ for a backslash, or a string between `backticks`";
      this.fail(`unknown escape ${text}`, offset, offset + text.length, hint);
    }
    if (simple !== undefined) return [SIMPLE_ESCAPES.get(simple) ?? simple, whole.length];
    const hex = short ?? bmp ?? braced ?? long;
    const code = hex === undefined ? parseInt(octal ?? "", 8) : parseInt(hex, 16);
    if (code > 0x10ffff) this.fail(`invalid character ${whole}`, offset, offset + whole.length);
    return [String.fromCodePoint(code), whole.length];
  }

  /** Between backticks nothing is an escape; two of them make one. */
  #readRawString(): void {
    const text = matchAt(/`((?:[^`]|``)*)`(?!`)/y, this.input, this.start);
    if (!text) this.#refuseUnterminated();
    this.#finish("string", this.start + text[0].length, text[1]!.replaceAll("``", "`"));
  }

  #refuseUnterminated(): never {
    this.fail("unterminated string", this.start, this.start + 1);
  }

  #refuseCharacter(): never {
    const character = String.fromCodePoint(this.input.codePointAt(this.start) ?? 0);
    const hint = CHARACTER_HINTS.get(character);
    this.fail(`unexpected ${JSON.stringify(character)}`, this.start, this.start + 1, hint);
  }

  eat(type: TokenType): boolean {
    if (this.type !== type) return false;
    this.next();
    return true;
  }

  expect(type: TokenType): void {
    if (this.eat(type)) return;
    this.unexpected(type === "," ? '"," or a closing bracket' : `"${type}"`);
  }

  isAt(type: TokenType): boolean {
    return this.type === type;
  }

  isWord(word: string): boolean {
    return this.type === "name" && this.value === word;
  }

  /** The word after the current token. */
  wordAhead(): string {
    return matchAt(/\s*([A-Za-z]+)(?![\w$])/y, this.input, this.end)?.[1] ?? "";
  }

  unexpected(wanted?: string): never {
    const { input, start, end, inTemplate } = this;
    const got = this.type === "end"
      ? `unexpected end of the ${inTemplate ? "text" : "expression"}`
      // The content of a string may be a secret.
      : this.type === "string"
      ? "unexpected string"
      : `unexpected ${quoted(input.slice(start, end))}`;
    const hint = syntaxHint({ input, start, end, inTemplate, isBehind: wanted === undefined });
    this.fail(wanted === undefined ? got : `${got}, expected ${wanted}`, start, end, hint);
  }

  fail(message: string, start: number, end: number, hint?: string): never {
    throw new ExpressionError(message, start, Math.max(end, start + 1), hint);
  }
}

/** A hint for a character that has no meaning here. */
const CHARACTER_HINTS: ReadonlyMap<string, string> = new Map([
  ["&", "write && for and"],
  ["~", 'for a pattern write text matches "^a+$"'],
  ...[..."“”„‘’«»"].map((quote) => [quote, 'write a straight quote: "'] as const),
]);

const NAME = /[\p{ID_Start}_$][\p{ID_Continue}$\u200c\u200d]*/uy;
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

/** The match of a sticky pattern at an offset. */
function matchAt(pattern: RegExp, text: string, offset: number): RegExpExecArray | null {
  pattern.lastIndex = offset;
  return pattern.exec(text);
}

/** Half of a long word could be half a secret, which no report would recognize. */
function quoted(token: string): string {
  return token.length <= 20 ? `"${token}"` : `word of ${token.length} characters`;
}
