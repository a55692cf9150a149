import type { BinaryExpression, Comparison, LogicalExpression, Node } from "./ast.ts";
import { LIMITS } from "../limits.ts";
import { OperandParser } from "./operand_parser.ts";
import {
  CANONICAL,
  COMPARISONS,
  POWER,
  PREFIX_POWER,
  RIGHT_TO_LEFT,
  TEST_WORDS,
} from "./operators.ts";
import { TOKEN } from "./scanner.ts";

/**
 * The grammar of the language. Acorn supplies the scanner and the loop over subscripts, and calls
 * the methods that have its names; what decides the grammar is here, so that no construct of
 * JavaScript can be reached.
 */
export class Parser extends OperandParser {
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
    const operators = [first];
    const operands = [left, this.#parseOperators(POWER.get(first)! + 1)];
    while (this.type === TOKEN.operator && COMPARISONS.has(String(this.value))) {
      operators.push(this.value as Comparison);
      this.next();
      operands.push(this.#parseOperators(POWER.get(first)! + 1));
    }
    if (operators.length === 1) {
      return this.#binary(first, start, left, operands[1]!);
    }
    const end = this.lastTokEnd;
    return this.finish({ type: "ComparisonChain", start, end, operands, operators });
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
