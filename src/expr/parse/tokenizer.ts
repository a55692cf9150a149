import { ExpressionError } from "../../base/errors.ts";
import { readInteger } from "../../base/value/value.ts";
import { hyphenNumberHint } from "../hints/hyphen_hint.ts";
import { OPERATOR_WORDS } from "./operators.ts";
import { Scanner, TOKEN, type TokenType } from "./scanner.ts";

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
        : hyphenNumberHint(text, this.start, this.input);
      this.fail(`invalid number "${text}${rest}"`, this.start, this.pos + rest.length, hint);
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
