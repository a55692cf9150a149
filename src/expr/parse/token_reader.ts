import type { Node } from "./ast.ts";
import { LIMITS } from "../limits.ts";
import { TOKEN, type TokenType } from "./scanner.ts";
import { syntaxHint } from "../hints/syntax_hint.ts";
import { Tokenizer } from "./tokenizer.ts";

/** The base of all grammar rules: looks at tokens, refuses them and makes nodes. */
export class TokenReader extends Tokenizer {
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
    const hint = syntaxHint({ input, start, end, inTemplate, isBehind: wanted === undefined });
    this.fail(wanted === undefined ? got : `${got}, expected ${wanted}`, start, end, hint);
  }

  refuseLength(start: number): never {
    this.fail(`an expression is longer than ${LIMITS.source} characters`, start, start + 1);
  }
}

const NEXT_WORD = /\s*([A-Za-z]+)(?![\w$])/y;

/** Half of a long word could be half a secret, which no report would recognize. */
function quoted(token: string): string {
  return token.length <= 20 ? `"${token}"` : `word of ${token.length} characters`;
}
