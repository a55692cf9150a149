import type { SyntaxNode } from "../../expr/parse/scanner.ts";
import { RequestDraft } from "../request_draft.ts";
import { K6Requests } from "./requests.ts";
import { callOf, isRandom } from "./library.ts";
import {
  bind,
  bindParameters,
  type FunctionThing,
  identifier,
  isNode,
  literalNode,
  namesIn,
  type Scope,
  type Thing,
  Untranslated,
  walk,
} from "./scope.ts";

/** Calls of functions deeper than this are not followed. */
const MAX_DEPTH = 12;

/** Loops with more rounds are not written out. */
const MAX_UNROLLED = 10;
/** Translates the statements of a function. */
export class K6Script extends K6Requests {
  /** Whether a failed check ends the function. */
  stopsOnFailure = false;
  #depth = 0;
  #temporary = 0;

  /** Translates a call of a function; what it returns, if that is known. */
  run(found: FunctionThing, args: readonly SyntaxNode[], scope: Scope): Thing | undefined {
    try {
      return this.#call(found, args, scope);
    } catch (error) {
      if (!(error instanceof Untranslated)) throw error;
      this.note(`the script: ${this.text(error.node)}`);
      return undefined;
    }
  }

  #call(
    { node, scope }: FunctionThing,
    args: readonly SyntaxNode[],
    caller: Scope,
  ): Thing | undefined {
    if (++this.#depth > MAX_DEPTH) throw new Untranslated(node);
    const copy = structuredClone(node);
    const inside = bindParameters({ type: "node", node: copy, scope }, args, caller);
    const { skips } = this;
    const { body } = copy;
    const result = body.type === "BlockStatement"
      ? this.#block(body.body, inside).result
      : this.#perform(body, inside);
    this.#depth--;
    this.skips = skips;
    return result;
  }

  #block(statements: readonly SyntaxNode[], before: Scope): { scope: Scope; result?: Thing } {
    let scope = before;
    for (const one of statements) {
      if (one.type === "FunctionDeclaration" && one.id) {
        scope = bind(one.id.name, { type: "node", node: one, scope }, scope);
      }
    }
    for (const one of statements) {
      const before = this.#depth;
      try {
        const done = this.#statement(one, scope);
        if (done.result) return done;
        scope = done.scope;
      } catch (error) {
        if (!(error instanceof Untranslated)) throw error;
        this.#depth = before;
        this.note(`the script: ${this.text(one)}`);
        scope = this.#forget(one, scope);
      }
    }
    return { scope };
  }

  /** What is declared by a part that was not translated is unknown. */
  #forget(node: SyntaxNode, scope: Scope): Scope {
    return node.type === "VariableDeclaration"
      ? node.declarations.reduce<Scope>((all, { id }) => this.#bindUnknown(id, all), scope)
      : scope;
  }

  #bindUnknown(target: SyntaxNode, scope: Scope): Scope {
    return namesIn(target, target).reduce((all, [name]) => bind(name, VOID, all), scope);
  }

  #statement(node: SyntaxNode, scope: Scope): { scope: Scope; result?: Thing } {
    switch (node.type) {
      case "EmptyStatement":
      case "FunctionDeclaration":
        return { scope };
      case "BlockStatement":
        return this.#block(node.body, scope);
      case "TryStatement":
        return this.#block(node.block.body, scope);
      case "ReturnStatement":
        return { scope, result: node.argument ? this.#perform(node.argument, scope) : VOID };
      case "VariableDeclaration":
        return {
          scope: node.declarations.reduce<Scope>(
            (all, { id, init }) => init ? this.#assign(id, init, all) : this.#bindUnknown(id, all),
            scope,
          ),
        };
      case "ExpressionStatement":
        return { scope: this.#expression(node.expression, scope) };
      case "IfStatement":
        return { scope: this.#if(node, scope) };
      case "ForStatement":
      case "ForOfStatement":
        return { scope: this.#loop(node, scope) };
      case "ThrowStatement":
        this.stopsOnFailure = true;
        return { scope };
    }
    throw new Untranslated(node);
  }

  #assign(target: SyntaxNode, init: SyntaxNode, scope: Scope): Scope {
    const [inside, node] = this.#hoist(init, scope);
    if (target.type === "Identifier") {
      const thing = this.values.resolve(node, inside);
      const isDirect = thing.type !== "node" || /Function/.test(thing.node.type);
      if (isDirect) return bind(target.name, thing, inside);
      const uses = this.source.match(new RegExp(`\\b${target.name}\\b`, "g"))?.length ?? 0;
      if (uses > 2 && isRandom(this.text(node))) {
        return this.#make(target.name, node, inside);
      }
      return bind(target.name, { type: "node", node, scope: inside }, inside);
    }
    const name = `#${this.#temporary++}`;
    const all = bind(name, { type: "node", node, scope: inside }, inside);
    const known = namesIn(target, identifier(name, init));
    if (known.length === 0) throw new Untranslated(target);
    return known.reduce<Scope>(
      (scope, [name, node]) => bind(name, { type: "node", node, scope: all }, scope),
      all,
    );
  }

  /** Makes a value once, in a step of its own, because several parts read it. */
  #make(name: string, node: SyntaxNode, scope: Scope): Scope {
    const value = this.values.template(node, scope);
    const [, known] = /^\{\{(outputs\.\w+)\}\}$/.exec(value) ?? [];
    if (known !== undefined) return bind(name, { type: "text", text: known }, scope);
    const request = new RequestDraft(this.names);
    request.capture(name, "res.value");
    const [output] = Object.keys(request.outputs);
    const title = this.title(`make ${name}`);
    const made = {
      notes: this.takeNotes(),
      data: {
        name: title,
        id: `make_${output}`,
        uses: "hello",
        with: { value },
        test: "status == 0",
        outputs: request.outputs,
        ...this.skipif(),
      },
    };
    this.steps.push({ request, captured: new Map([["res.value", output!]]), tags: {}, made });
    return bind(name, { type: "text", text: `outputs.${output}` }, scope);
  }

  #expression(node: SyntaxNode, scope: Scope): Scope {
    if (node.type === "AssignmentExpression") {
      if (node.operator === "=" && node.left.type === "Identifier") {
        return this.#assign(node.left, node.right, scope);
      }
      throw new Untranslated(node);
    }
    if (callOf(node).startsWith("console.")) return scope;
    const [inside, rest] = this.#hoist(node, scope);
    const isNothing = rest.type === "Identifier" || rest.type === "UpdateExpression" ||
      rest.type === "LogicalExpression" || rest.type === "UnaryExpression" ||
      rest.type === "Literal" || /\.(?:add|setItem)$/.test(callOf(rest));
    if (callOf(rest) === "fail") this.stopsOnFailure = true;
    else if (!isNothing) this.note(`the script: ${this.text(rest)}`);
    return inside;
  }

  #if(node: SyntaxNode & { readonly type: "IfStatement" }, before: Scope): Scope {
    const [scope, test] = this.#hoist(node.test, before);
    if (
      !this.#acts(node.consequent, scope) && !(node.alternate && this.#acts(node.alternate, scope))
    ) {
      const body = this.text(node.consequent);
      const isFailure = /!|\bcheck\(|>=? ?[345]\d\d\b/.test(this.text(node.test));
      if (/\b(?:fail|abort)\(|\bthrow\b/.test(body) || isFailure && /\breturn\b/.test(body)) {
        this.stopsOnFailure = true;
      } else if (/\breturn\b/.test(body)) {
        this.skips = [...this.skips, this.values.test(test, scope)];
      } else if (!this.#isOutput(node.consequent)) throw new Untranslated(node);
      return scope;
    }
    const condition = this.values.test(test, scope);
    if (isRandom(this.text(node.test))) {
      this.note(`if (${this.text(node.test)}): it is drawn for each step anew`);
    }
    const skips = this.skips;
    this.skips = [...skips, `not (${condition})`];
    const done = this.#block([node.consequent], scope);
    this.skips = [...skips, condition];
    const after = node.alternate ? this.#block([node.alternate], done.scope).scope : done.scope;
    // What follows a return in one branch runs after the other.
    if (!done.result) this.skips = skips;
    return after;
  }

  /** Whether a statement only prints, or counts for a metric. */
  #isOutput(node: SyntaxNode): boolean {
    const statements = node.type === "BlockStatement" ? node.body : [node];
    return statements.every((one) =>
      one.type === "ExpressionStatement" && /^console\.|\.add$/.test(callOf(one.expression))
    );
  }

  #loop(
    node: SyntaxNode & { readonly type: "ForStatement" | "ForOfStatement" },
    scope: Scope,
  ): Scope {
    const rounds: Scope[] = [];
    if (node.type === "ForOfStatement") {
      const list = this.values.resolve(node.right, scope);
      const [declared] = node.left.type === "VariableDeclaration" ? node.left.declarations : [];
      if (
        list.type !== "node" || list.node.type !== "ArrayExpression" ||
        declared?.id.type !== "Identifier"
      ) {
        throw new Untranslated(node);
      }
      for (const item of list.node.elements) {
        if (item) {
          rounds.push(
            bind(declared.id.name, { type: "node", node: item, scope: list.scope }, scope),
          );
        }
      }
    } else {
      const [, name, from, limit] =
        /^for \((?:let|var) (\w+) = (\d+); ?\w+ < (\d+); ?(?:\w+\+\+|\+\+\w+|\w+ \+= 1)\)/
          .exec(this.text(node)) ?? [];
      for (
        let index = Number(from);
        index < Number(limit) && rounds.length <= MAX_UNROLLED;
        index++
      ) {
        const thing: Thing = { type: "node", node: literalNode(index, node), scope };
        rounds.push(bind(name!, thing, scope));
      }
    }
    if (rounds.length === 0 || rounds.length > MAX_UNROLLED) throw new Untranslated(node);
    for (const inside of rounds) this.#block([structuredClone(node.body)], inside);
    return scope;
  }

  /** Whether a part sends or waits. */
  #acts(node: SyntaxNode, scope: Scope): boolean {
    let found = false;
    walk(node, (one) => {
      if (one.type !== "CallExpression") return;
      const target = this.values.functionOf(one.callee, scope);
      found ||= this.#isAction(one) ||
        target !== undefined && target.node.body.type === "BlockStatement";
    });
    return found;
  }

  #isAction(node: SyntaxNode): boolean {
    const name = callOf(node);
    return /^(?:check|sleep|group)$/.test(name) || this.methodOf(name) !== undefined ||
      name === "http.batch";
  }
  /** Performs an expression, and says what it stands for. */
  #perform(node: SyntaxNode, scope: Scope): Thing {
    const [inside, rest] = this.#hoist(node, scope);
    return this.values.resolve(rest, inside);
  }

  /** Performs the calls in an expression in their order; names take their places. */
  #hoist(node: SyntaxNode, before: Scope): [scope: Scope, rest: SyntaxNode] {
    let scope = before;
    const replace = (one: SyntaxNode): SyntaxNode => {
      if (/Function/.test(one.type)) return one;
      if (one.type === "AwaitExpression" || one.type === "ChainExpression") {
        return replace(one.type === "AwaitExpression" ? one.argument : one.expression);
      }
      const copy: Record<string, unknown> = { ...one };
      // The object of a call before its arguments.
      for (const [key, part] of Object.entries(one)) {
        if (Array.isArray(part)) {
          copy[key] = part.map((item) => isNode(item) ? replace(item) : item);
        } else if (isNode(part)) copy[key] = replace(part);
      }
      const whole = copy as unknown as SyntaxNode;
      if (whole.type !== "CallExpression") return whole;
      const thing = this.#act(whole, scope);
      if (!thing) return whole;
      const name = `#${this.#temporary++}`;
      scope = bind(name, thing, scope);
      return identifier(name, one);
    };
    const rest = replace(node);
    return [scope, rest];
  }

  #act(node: SyntaxNode & { readonly type: "CallExpression" }, scope: Scope): Thing | undefined {
    const name = callOf(node);
    const [first, second] = node.arguments as readonly SyntaxNode[];
    const method = this.methodOf(name);
    if (method !== undefined) return this.send(method, node.arguments, scope);
    if (name === "http.batch") return first && this.batch(first, scope);
    if (name === "sleep") {
      const seconds = first ? this.values.constant(first, scope) : 0;
      if (typeof seconds !== "number") throw new Untranslated(node);
      if (isRandom(this.text(node))) this.note(`${this.text(node)}: its mean is used`);
      this.pause += seconds;
      return VOID;
    }
    if (name === "check") {
      this.check(node, scope);
      return VOID;
    }
    if (name === "group") {
      const found = second && this.values.functionOf(second, scope);
      const title = first && this.values.constant(first, scope);
      if (!found) throw new Untranslated(node);
      const around = this.group;
      this.group = around === "" ? String(title) : `${around}: ${title}`;
      const result = this.#call(found, [], scope);
      this.group = around;
      return result ?? VOID;
    }
    const found = this.values.functionOf(node.callee, scope);
    const hasBlock = found?.node.body.type === "BlockStatement";
    if (!found || !hasBlock && !this.#acts(found.node.body, found.scope)) return undefined;
    // What it only returns is read where it is wanted.
    const [only, ...others] = found.node.body.type === "BlockStatement" ? found.node.body.body : [];
    const isValue = only?.type === "ReturnStatement" && others.length === 0;
    if (isValue && !this.#acts(only, found.scope)) return undefined;
    return this.#call(found, node.arguments, scope) ?? VOID;
  }
}

const VOID: Thing = { type: "node", node: { type: "Super" } as SyntaxNode, scope: undefined };
