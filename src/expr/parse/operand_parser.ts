import type {
  CallExpression,
  Identifier,
  Literal,
  MemberExpression,
  Node,
  Pointer,
  Property,
} from "./ast.ts";
import { isFunction, takesPredicate } from "../functions/registry.ts";
import { COMMENT_HINT } from "../hints/syntax_hint.ts";
import { KEYWORDS, OPERATOR_WORDS, TEST_WORDS } from "./operators.ts";
import { LIMITS } from "../limits.ts";
import { Lexer } from "./lexer.ts";

/** The half of the grammar that is about operands: names, literals, members, calls. */
export abstract class OperandParser extends Lexer {
  /** The number of open predicates: inside one, `#` and `.name` have a meaning. */
  #predicates = 0;
  #nodes = 0;
  /** The whole expression is at level 0. */
  #depth = -1;

  /** `a; b; c`, the widest expression that parentheses or braces may contain. */
  abstract parseExpression(): Node;

  /** One expression, as in a list or an argument. */
  abstract parseItem(): Node;

  /** Counts a node. */
  finish<T extends Node>(node: T): T {
    if (++this.#nodes > LIMITS.nodes) {
      this.fail(`this expression has more than ${LIMITS.nodes} parts`, node.start, node.start + 1);
    }
    return node;
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

  /** Each expression of a template has limits of its own. */
  restartLimits(): void {
    this.#nodes = 0;
    this.#depth = -1;
  }

  /** An operand, and what follows it: members, parts and calls. */
  parseOperand(): Node {
    const { start } = this;
    return this.parseSubscripts(this.#parseAtom(), start);
  }

  parseSubscripts(first: Node, start: number): Node {
    let base = first;
    let isOptional = false;
    for (;;) {
      const next = this.#parseSubscript(base, start);
      if (next === base) break;
      isOptional ||= next.type === "MemberExpression" && next.optional;
      base = next;
    }
    if (!isOptional) return base;
    return this.finish({ type: "ChainExpression", start, end: this.lastEnd, expression: base });
  }

  #parseAtom(): Node {
    switch (this.type) {
      case "number":
      case "string":
        return this.#literal(this.value);
      case "name":
        return this.#parseWord();
      case "(": {
        this.next();
        const inner = this.parseExpression();
        this.expect(")");
        return inner;
      }
      case "[": {
        const start = this.start;
        this.next();
        const elements: Node[] = [];
        while (!this.eat("]")) {
          elements.push(this.parseItem());
          if (!this.isAt("]")) this.expect(",");
        }
        return this.finish({ type: "ArrayExpression", start, end: this.lastEnd, elements });
      }
      case "{":
        return this.#parseMap();
      case "#":
        return this.#parsePointer();
      case ".": // `.name` is `#.name`: the pointer is empty, and the dot is read after it
        if (this.#predicates > 0) return this.#pointer(this.start, this.start, "");
        break;
      case "operator": // `contains(a, b)`: a test word as a function
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
    if (this.type !== "name" || this.start !== this.lastEnd) {
      return this.#pointer(start, end, "");
    }
    const name = this.value;
    if (name !== "acc" && name !== "index") {
      this.fail(`unknown pointer #${name}`, start, this.end, "use #, #acc or #index");
    }
    this.next();
    return this.#pointer(start, this.lastEnd, name);
  }

  /** One of `.x`, `?.x`, `[i]`, `?.[i]`, `[a:b]` and `(…)`; the base itself where none follows. */
  #parseSubscript(base: Node, start: number): Node {
    const optional = this.eat("?.");
    if (this.eat("[")) return this.#parseBracket(base, start, optional);
    if (optional || this.eat(".")) {
      return this.#member(base, start, this.parseName(true), false, optional);
    }
    const callable = base.type === "Identifier" || base.type === "MemberExpression";
    if (!callable || !this.eat("(")) return base;
    return this.call(base, this.parseArguments(base, []), start, false);
  }

  #parseBracket(object: Node, start: number, optional: boolean): Node {
    const from = this.type === ":" ? null : this.parseItem();
    if (from !== null && this.eat("]")) {
      return this.#member(object, start, from, true, optional);
    }
    if (!this.eat(":")) this.unexpected('"]"');
    const to = this.type === "]" ? null : this.parseItem();
    this.expect("]");
    return this.finish({ type: "SliceExpression", start, end: this.lastEnd, object, from, to });
  }

  #member(
    object: Node,
    start: number,
    property: Node,
    computed: boolean,
    optional: boolean,
  ): MemberExpression {
    const range = { start, end: this.lastEnd };
    return this.finish({
      type: "MemberExpression",
      ...range,
      object,
      property,
      computed,
      optional,
    });
  }

  parseArguments(callee: Node, args: Node[]): Node[] {
    // Methods do not exist; reading one like a function allows a precise error.
    const isMethod = callee.type === "MemberExpression";
    const named = isMethod ? callee.property : callee;
    const name = named.type === "Identifier" ? named.name : "";
    while (!this.eat(")")) {
      args.push(this.#parseArgument(name, args.length + (isMethod ? 1 : 0)));
      if (this.type !== ")") this.expect(",");
    }
    return args;
  }

  #parseArgument(name: string, position: number): Node {
    if (takesPredicate(name, position)) return this.#parsePredicate();
    if (position === 0 || isFunction(name)) return this.parseItem();
    // A slip in the name of a function that takes a predicate: it is the name that is wrong.
    this.#predicates++;
    const argument = this.parseItem();
    this.#predicates--;
    return argument;
  }

  #parsePredicate(): Node {
    const start = this.start;
    this.#predicates++;
    const body = this.type === "{" ? this.parseBlock() : this.parseItem();
    this.#predicates--;
    return this.finish({ type: "Predicate", start, end: this.lastEnd, body });
  }

  #parseMap(): Node {
    const start = this.start;
    this.next();
    const properties: Property[] = [];
    while (!this.eat("}")) {
      const { start } = this;
      const key = this.#parseKey();
      this.expect(":");
      const value = this.parseItem();
      properties.push({ type: "Property", start, end: this.lastEnd, key, value });
      if (this.type !== "}") this.expect(",");
    }
    return this.finish({ type: "ObjectExpression", start, end: this.lastEnd, properties });
  }

  #parseKey(): Node {
    if (this.eat("(")) {
      const key = this.parseExpression();
      this.expect(")");
      return key;
    }
    if (this.type === "string" || this.type === "number") {
      return this.#literal(String(this.value));
    }
    const { start, end, name } = this.parseName(true);
    return this.finish({ type: "Literal", start, end, value: name });
  }

  /** A name; where only a name is possible, any word is one. */
  parseName(anyWord = false): Identifier {
    const name = String(this.value);
    const isName = this.type === "name" && (anyWord || !KEYWORDS.has(name)) ||
      anyWord && this.type === "operator" && OPERATOR_WORDS.has(name);
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
    const end = this.lastEnd;
    return this.finish({ type: "CallExpression", start, end, callee, arguments: args, piped });
  }

  parseBlock(): Node {
    this.expect("{");
    const body = this.parseExpression();
    this.expect("}");
    return body;
  }
}
