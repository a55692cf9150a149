import * as acorn from "acorn";
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
export class Scanner extends (acorn.Parser as unknown as AcornParserClass) {
  constructor(input: string) {
    super(OPTIONS, input);
  }

  /** Acorn tracks here where a regular expression may start; the language has none. */
  updateContext(): void {}
}

const { tokTypes } = acorn;

/** The kinds of tokens. */
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
