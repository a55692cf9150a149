import type { SyntaxNode } from "../../expr/parse/scanner.ts";
import { withoutMaps } from "../expressions.ts";
import { CHANGES } from "../script_tests.ts";
import {
  callOf,
  isFunction,
  isOutput,
  type K6Step,
  type Known,
  type KnownFunction,
  type Node,
  Scope,
} from "./known.ts";
import { K6Requests, NOTHING } from "./requests.ts";

/** Translates the statements of a function, which are not run. */
export class K6Script extends K6Requests {
  /** The functions that are being translated. */
  readonly #running = new Set<SyntaxNode>();

  /** The names of a module. */
  moduleOf(statements: readonly SyntaxNode[]): Scope {
    const scope = new Scope();
    const declared = statements.map((one) =>
      one.type === "ExportNamedDeclaration" || one.type === "ExportDefaultDeclaration"
        ? one.declaration as SyntaxNode | null
        : one
    );
    this.#declareFunctions(declared, scope);
    for (const [index, one] of declared.entries()) {
      if (one?.type === "VariableDeclaration") {
        for (const { id, init } of one.declarations) {
          if (!init) continue;
          const value = this.evaluate(init, scope);
          this.bind(id, id.type === "Identifier" ? this.shared(id.name, value) : value, scope);
        }
      }
      if (one && statements[index]!.type === "ExportDefaultDeclaration") {
        scope.declare("default", this.evaluate(one, scope));
      }
    }
    return scope;
  }

  override call(called: KnownFunction, args: readonly Known[]): Known {
    const { body } = called.node;
    if (this.#running.has(body)) return { type: "unknown", source: "a recursion" };
    this.#running.add(body);
    const inside = this.scopeOf(called, args);
    const result = body.type === "BlockStatement"
      ? this.#block(body.body, inside)
      : this.evaluate(body, inside);
    this.#running.delete(body);
    return result ?? NOTHING;
  }

  #declareFunctions(statements: readonly (SyntaxNode | null)[], scope: Scope): void {
    for (const one of statements) {
      if (one?.type === "FunctionDeclaration" && one.id) {
        scope.declare(one.id.name, { type: "function", node: one, scope });
      }
    }
  }

  /** Translates statements; what they return, undefined if they do not return. */
  #block(statements: readonly SyntaxNode[], scope: Scope): Known | undefined {
    this.#declareFunctions(statements, scope);
    for (const one of statements) {
      if (one.type === "ReturnStatement") {
        return one.argument ? this.evaluate(one.argument, scope) : NOTHING;
      }
      const inner = one.type === "BlockStatement"
        ? one
        : one.type === "TryStatement" && !one.finalizer &&
            (!one.handler || isOutput(one.handler.body))
        ? one.block
        : undefined;
      const result = inner && this.#block(inner.body, scope);
      if (result) return result;
      if (!inner && !this.#isTranslated(one, scope)) this.#leaveOut(one, scope);
    }
    return undefined;
  }

  /** Notes a part that is not translated, and forgets the variables that it may change. */
  #leaveOut(node: SyntaxNode, scope: Scope): void {
    this.note(`the script: ${this.text(node)}`);
    const source = this.source.slice(node.start, node.end);
    const declared = node.type === "VariableDeclaration"
      ? node.declarations.map(({ id }) => this.text(id))
      : [];
    for (const [, name] of source.matchAll(CHANGES)) {
      if (!declared.includes(name!) && scope.find(name!)) {
        scope.assign(name!, { type: "unknown", source: name! });
      }
    }
  }

  /** Whether a statement could be translated. */
  #isTranslated(node: SyntaxNode, scope: Scope): boolean {
    switch (node.type) {
      case "EmptyStatement":
      case "FunctionDeclaration":
        return true;
      case "VariableDeclaration":
        return node.declarations.map(({ id, init }) => {
          const value: Known = init
            ? this.evaluate(init, scope)
            : { type: "unknown", source: this.text(id) };
          this.bind(id, value, scope);
          return value.type !== "unknown" || !init || scope.performed.has(init) ||
            !/\(/.test(this.text(init));
        }).every(Boolean);
      case "ExpressionStatement":
        return this.#isPerformed(node.expression, scope);
      case "IfStatement": {
        const test = node.test.type === "UnaryExpression" ? node.test.argument : node.test;
        const isChecked = callOf(test) !== "check" || this.#isPerformed(test, scope);
        const branches = [node.consequent, ...node.alternate ? [node.alternate] : []];
        return isChecked && !this.acts(test, scope) && branches.every(isOutput);
      }
    }
    return false;
  }

  /** Whether an expression that is a statement could be translated. */
  #isPerformed(node: SyntaxNode, scope: Scope): boolean {
    if (isOutput(node) || node.type === "Literal") return true;
    if (node.type === "AwaitExpression") return this.#isPerformed(node.argument, scope);
    if (node.type === "LogicalExpression") {
      return this.#isPerformed(node.left, scope) && isOutput(node.right);
    }
    if (node.type === "AssignmentExpression") {
      if (node.operator !== "=" || node.left.type !== "Identifier") return false;
      const value = this.evaluate(node.right, scope);
      scope.assign(node.left.name, value);
      return value.type !== "unknown";
    }
    return this.acts(node, scope) && this.evaluate(node, scope).type !== "unknown" ||
      scope.performed.has(node);
  }

  protected override acts(node: SyntaxNode, scope: Scope): boolean {
    const source = this.source.slice(node.start, node.end);
    return [...source.matchAll(/(\bhttp\.)?\b([\w$]+)\(/g)].some(([, http, name]) =>
      http !== undefined || /^(?:check|sleep|group)$/.test(name!) ||
      scope.find(name!)?.type === "function"
    );
  }

  protected override perform(node: Node<"CallExpression">, scope: Scope): Known | undefined {
    const name = callOf(node);
    const own = scope.find(name);
    if (own && own.type !== "function" || node.arguments.some(isSpread)) return undefined;
    const done: Known = { type: "unknown", source: this.text(node) };
    const [first, second] = node.arguments as readonly SyntaxNode[];
    const args = () => node.arguments.map((one) => this.evaluate(one, scope));
    if (own) return this.call(own, args());
    if (isFunction(node.callee)) return undefined;
    if (name === "http.batch") return this.batch(first && this.evaluate(first, scope));
    if (/^http\.\w+$/.test(name) && !/^http\.(?:file|CookieJar|cookieJar)$/.test(name)) {
      return this.send(name.slice("http.".length), args());
    }
    switch (name) {
      case "sleep": {
        const seconds = first && this.constantOf(this.evaluate(first, scope));
        if (typeof seconds !== "number") return undefined;
        this.pause += seconds;
        return done;
      }
      case "check":
        return first && second && this.#isChecked(this.evaluate(first, scope), second, scope)
          ? done
          : undefined;
      case "group": {
        const title = first && this.constantOf(this.evaluate(first, scope));
        const inside = second && this.evaluate(second, scope);
        if (typeof title !== "string" || inside?.type !== "function") return undefined;
        const around = this.group;
        this.group = around === "" ? title : `${around}: ${title}`;
        const result = this.call(inside, []);
        this.group = around;
        return result;
      }
    }
    return undefined;
  }

  /** Translates `check(res, { name: (r) => … })` into tests of the step of the response. */
  #isChecked(subject: Known, node: SyntaxNode, scope: Scope): boolean {
    const checks = this.evaluate(node, scope);
    const step = subject.type === "response"
      ? subject.step
      : subject.type === "expression"
      ? subject.owner
      : undefined;
    if (!step || checks.type !== "map") return false;
    for (const [name, one] of checks.fields) {
      const test = one.type === "function" ? this.#test(one, subject, step) : undefined;
      if (test !== undefined) step.request.tests.push(withoutMaps(test));
      else {
        const source = one.type === "function" ? this.text(one.node) : name;
        step.request.notes.push(`the check "${name}": ${source}`);
      }
    }
    return true;
  }

  /** What the function of a check returns, after variables at most. */
  #test(check: KnownFunction, subject: Known, step: K6Step): string | undefined {
    const { body } = check.node;
    const [statements, last] = body.type === "BlockStatement"
      ? [body.body.slice(0, -1), body.body.at(-1)]
      : [[], body];
    const result = last?.type === "ReturnStatement" ? last.argument : last;
    const isSimple = statements.every((one) => one.type === "VariableDeclaration");
    if (!result || !isSimple || /Statement$/.test(result.type)) return undefined;
    this.current = step;
    const inside = this.scopeOf(check, [subject]);
    const isKnown = statements.every((one) => this.#isTranslated(one, inside));
    const test = isKnown && !this.acts(result, inside) ? this.test(result, inside) : undefined;
    this.current = undefined;
    return test;
  }
}

function isSpread({ type }: SyntaxNode): boolean {
  return type === "SpreadElement";
}
