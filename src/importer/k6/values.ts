import type { SyntaxNode } from "../../expr/parse/scanner.ts";
import type { Value } from "../../base/value/value.ts";
import {
  environmentName,
  joinTemplate,
  literalText,
  quoteText,
  type TemplatePart,
} from "../../openapi/gen/templates.ts";
import { absenceOf, containsOf, existenceOf, headerOf, keyOf, TYPE_TESTS } from "../expressions.ts";
import {
  readTest,
  readValue,
  type Script,
  type ScriptValue,
  sourceOf,
  textOf,
} from "../script_values.ts";
import {
  BODY,
  callOf,
  EXECUTION,
  fileOf,
  libraryCall,
  methodCall,
  nameIn,
  patternOf,
  RESPONSE,
  stringOf,
} from "./library.ts";
import { type K6Step, lookUp, type Scope, type Thing, Untranslated } from "./scope.ts";
import { K6Things } from "./things.ts";

/** Translates the values of a script of k6 into templates and expressions. */
export class K6Values extends K6Things {
  /** A value of a parameter. Throws Untranslated. */
  value(node: SyntaxNode, scope: Scope, step?: K6Step): Value {
    const thing = this.resolve(node, scope);
    const isConstant = thing.type === "node" && !this.#isShared(node, scope);
    if (isConstant) {
      const { node: one, scope: inside } = thing;
      switch (one.type) {
        case "ObjectExpression":
          return Object.fromEntries(
            [...this.fieldsOf(one, inside)].map((
              [key, field],
            ) => [key, this.#field(key, field.node, field.scope, step)]),
          );
        case "ArrayExpression":
          return one.elements.map((item) => {
            if (!item || item.type === "SpreadElement") throw new Untranslated(one);
            return this.value(item, inside, step);
          });
        case "Literal":
          if (typeof one.value !== "string" && !(one.value instanceof RegExp)) {
            return one.value as Value;
          }
      }
    }
    return this.template(node, scope, step);
  }

  /** A text as a template. Throws Untranslated. */
  template(node: SyntaxNode, scope: Scope, step?: K6Step): string {
    return joinTemplate(this.#parts(node, scope, step));
  }

  #parts(node: SyntaxNode, scope: Scope, step?: K6Step): TemplatePart[] {
    if (!this.#isShared(node, scope)) {
      const thing = this.resolve(node, scope);
      if (thing.type === "node") {
        const { node: one, scope: inside } = thing;
        if (one.type === "Literal" && !(one.value instanceof RegExp)) return [String(one.value)];
        if (one.type === "TemplateLiteral") {
          return one.quasis.flatMap(({ value }, at) => [
            value.cooked ?? "",
            ...one.expressions[at] ? this.known(one.expressions[at], inside, step) : [],
          ]);
        }
        const isText = one.type === "BinaryExpression" && one.operator === "+" &&
          /["'`]/.test(sourceOf(one, this.plain));
        if (isText) {
          return [one.left as SyntaxNode, one.right].flatMap((side) =>
            this.known(side, inside, step)
          );
        }
      }
    }
    return [{ expression: this.expression(node, scope, step) }];
  }

  /** A part of a text; one that is not known is read from the environment. */
  known(node: SyntaxNode, scope: Scope, step?: K6Step): TemplatePart[] {
    try {
      return this.#parts(node, scope, step);
    } catch (error) {
      if (!(error instanceof Untranslated)) throw error;
      return [{ expression: this.#fromEnvironment(node, nameIn(node)) }];
    }
  }

  #field(key: string, node: SyntaxNode, scope: Scope, step: K6Step | undefined): Value {
    try {
      return this.value(node, scope, step);
    } catch (error) {
      if (!(error instanceof Untranslated)) throw error;
      return `{{${this.#fromEnvironment(node, key)}}}`;
    }
  }

  #fromEnvironment(node: SyntaxNode, name: string): string {
    const expression = this.names.read(name);
    this.note(`${sourceOf(node, this.plain)}: it is read from ${environmentName(name)}`);
    return expression;
  }

  /** Whether a name of the module becomes a var. */
  #isShared(node: SyntaxNode, scope: Scope): boolean {
    if (node.type !== "Identifier") return false;
    const found = lookUp(node.name, scope);
    return found?.isGlobal === true && found.thing.type === "node" &&
      this.#shared(found.thing) !== undefined;
  }

  /** The template of a text of the module: a literal, or what it reads from the environment. */
  #shared({ node, scope }: Thing & { readonly type: "node" }): string | undefined {
    if (node.type === "TemplateLiteral" && node.expressions.length > 0) return undefined;
    const text = textOf(node);
    if (text !== undefined) return literalText(text);
    const [, name, fallback] = this.envDefault(node, scope) ?? [];
    if (name === undefined || this.env[name] !== undefined) return undefined;
    return fallback === undefined ? undefined : `{{${name} ?? ${fallback}}}`;
  }
  /** An expression. Throws Untranslated. */
  expression(node: SyntaxNode, scope: Scope, step?: K6Step): string {
    const value = this.read(node, scope, step);
    if (!value) throw new Untranslated(node);
    return value.isTest ? `(${value.text})` : value.text;
  }

  /** An expression that is truthy in JavaScript. Throws Untranslated. */
  test(node: SyntaxNode, scope: Scope, step?: K6Step): string {
    const text = readTest(node, this.#script(scope, step));
    if (text === undefined) throw new Untranslated(node);
    return text.replace(/^(?:true && )+/, "");
  }

  read(node: SyntaxNode, scope: Scope, step?: K6Step): ScriptValue | undefined {
    return readValue(node, this.#script(scope, step));
  }

  #script(scope: Scope, step: K6Step | undefined): Script {
    return { ...this.plain, own: (node) => this.#own(node, scope, step) };
  }

  /** What a part means that is of k6; null if it cannot be translated, undefined if it is plain. */
  #own(node: SyntaxNode, scope: Scope, step: K6Step | undefined): ScriptValue | null | undefined {
    if (node.type === "Identifier" && this.resolve(node, scope).type === "response") {
      return { text: "true", isTest: true };
    }
    const owner = this.ownerOf(node, scope);
    if (owner && owner !== step) return this.#capture(owner, node, scope);
    const env = this.envDefault(node, scope);
    if (env) return this.#readEnv(env[1], env[2]);
    const text = (one: SyntaxNode) => this.read(one, scope, step)?.text;
    switch (node.type) {
      case "UnaryExpression": {
        const test = node.operator === "!"
          ? readTest(node.argument, this.#script(scope, step))
          : undefined;
        const [, inner] = /^not \(([^()]*(?:\([^()]*\)[^()]*)*)\)$/.exec(test ?? "") ?? [];
        return test ? { text: inner ?? `not (${test})`, isTest: true } : undefined;
      }
      case "Literal":
        return typeof node.value === "number" ? { text: String(node.value) } : undefined;
      case "Identifier":
        return this.#readName(node.name, scope, step);
      case "TemplateLiteral": {
        if (node.expressions.length === 0) return undefined;
        const parts = node.quasis.flatMap(({ value }, at) => [
          ...value.cooked ? [quoteText(value.cooked)] : [],
          ...node.expressions[at] ? [stringOf(text(node.expressions[at]))] : [],
        ]);
        return parts.includes(undefined) ? null : { text: parts.join(" + ") };
      }
      case "ConditionalExpression": {
        const test = readTest(node.test, this.#script(scope, step));
        const [yes, no] = [text(node.consequent), text(node.alternate)];
        return test && yes && no ? { text: `(${test} ? ${yes} : ${no})` } : null;
      }
      case "LogicalExpression": {
        const [left, right] = [
          this.read(node.left, scope, step),
          this.read(node.right, scope, step),
        ];
        if (node.operator === "&&" || !left || !right || left.isTest && right.isTest) {
          return undefined;
        }
        return { text: `(${left.text} ?? ${right.text})` };
      }
      case "BinaryExpression":
        return this.#binary(node, text);
      case "MemberExpression":
        return this.#readMember(node, scope, step, text);
      case "CallExpression": {
        const returned = this.returned(node, scope);
        if (returned) return this.read(returned.node, returned.scope, step) ?? null;
        return this.#readCall(node, scope, text);
      }
    }
    return undefined;
  }

  #readName(name: string, scope: Scope, step: K6Step | undefined): ScriptValue | null | undefined {
    if (name === "undefined") return undefined;
    if (name === "__ITER") return { text: this.hasRounds ? "round.index" : "0" };
    if (name === "__VU") return { text: this.hasRounds ? "(round.user + 1)" : "1" };
    const found = lookUp(name, scope);
    if (found?.thing.type === "text") return { text: found.thing.text };
    if (found?.thing.type !== "node") return null;
    const shared = found.isGlobal ? this.#shared(found.thing) : undefined;
    if (shared === undefined) return this.read(found.thing.node, found.thing.scope, step) ?? null;
    this.names.defineTemplate(name, shared);
    return { text: this.names.read(name) };
  }

  #readEnv(name: string, fallback: string | undefined): ScriptValue {
    const own = this.env[name];
    if (own !== undefined) return { text: quoteText(String(own)) };
    if (fallback !== undefined) this.names.defineTemplate(name, `{{${name} ?? ${fallback}}}`);
    return { text: this.names.read(name) };
  }

  #readMember(
    node: SyntaxNode & { readonly type: "MemberExpression" },
    scope: Scope,
    step: K6Step | undefined,
    text: (node: SyntaxNode) => string | undefined,
  ): ScriptValue | null | undefined {
    const source = sourceOf(node, this.plain);
    const known = EXECUTION.find(([pattern]) => pattern.test(source));
    if (known) return { text: this.hasRounds ? known[1] : known[2] };
    const key = this.keyOf(node, scope);
    const object = this.resolve(node.object as SyntaxNode, scope);
    if (object.type === "row") return key === undefined ? null : { text: `vars${keyOf(key)}` };
    if (object.type === "response") {
      const found = RESPONSE[key ?? ""];
      return found === undefined ? null : { text: found };
    }
    if (node.object.type === "MemberExpression" && key !== undefined) {
      const around = this.resolve(node.object.object as SyntaxNode, scope);
      const part = this.keyOf(node.object, scope);
      if (around.type === "response" && part === "headers") return { text: headerOf(key) };
      if (around.type === "response" && part === "timings") {
        const found = RESPONSE[`timings.${key}`];
        return found === undefined ? null : { text: found };
      }
    }
    const thing = this.resolve(node, scope);
    if (thing.type !== "node") return null;
    if (thing.node !== node) return this.read(thing.node, thing.scope, step) ?? null;
    if (!node.computed || key !== undefined) return undefined;
    const [list, index] = [text(node.object as SyntaxNode), text(node.property as SyntaxNode)];
    return list && index ? { text: `${list}[${index}]` } : null;
  }

  #readCall(
    node: SyntaxNode & { readonly type: "CallExpression" },
    scope: Scope,
    text: (node: SyntaxNode) => string | undefined,
  ): ScriptValue | null | undefined {
    const { callee, arguments: args } = node;
    const [first] = args;
    const file = fileOf(node);
    if (file !== undefined) return { text: file };
    if (callOf(node) === "JSON.parse" && first) {
      const value = text(first);
      return value === undefined
        ? null
        : { text: value === BODY ? "res.body" : `fromJSON(${value})` };
    }
    const made = libraryCall(node, sourceOf(node, this.plain), text);
    if (made !== undefined) return made;
    if (callee.type !== "MemberExpression") return undefined;
    const method = sourceOf(callee.property, this.plain);
    const object = this.resolve(callee.object as SyntaxNode, scope);
    if (object.type === "response") {
      if (method !== "json") return null;
      const path = first ? this.constant(first, scope) : "";
      const isSimple = typeof path === "string" && /^[\w.-]*$/.test(path);
      if (!isSimple) return null;
      const keys = path === "" ? [] : path.split(".");
      return {
        text: "res.body" + keys.map((one) => keyOf(/^\d+$/.test(one) ? Number(one) : one)).join(""),
      };
    }
    const html = callee.object.type === "CallExpression" ? callee.object : undefined;
    if (method === "text" && html?.callee.type === "MemberExpression") {
      const about = this.resolve(html.callee.object as SyntaxNode, scope);
      const selector = textOf(html.arguments[0]);
      return about.type === "response" && selector !== undefined
        ? { text: `first(css(res.body, ${quoteText(selector)}))` }
        : null;
    }
    const pattern = callee.object.type === "Literal" ? callee.object.value : undefined;
    if (method === "test" && pattern instanceof RegExp) {
      const value = first && text(first);
      return value ? { text: `${value} matches ${patternOf(pattern)}`, isTest: true } : null;
    }
    const value = text(callee.object as SyntaxNode);
    if (value === undefined) return null;
    return methodCall(method, value, node.arguments, text);
  }

  #binary(
    node: SyntaxNode & { readonly type: "BinaryExpression" },
    text: (node: SyntaxNode) => string | undefined,
  ): ScriptValue | null | undefined {
    const { operator, right } = node;
    const left = node.left as SyntaxNode;
    const isEqual = /^===?$/.test(operator);
    if (isEqual || /^!==?$/.test(operator)) {
      const source = sourceOf(right, this.plain);
      if (source === "null" || source === "undefined") {
        const value = text(left);
        if (value === undefined) return null;
        const isLoose = source === "null" || operator.length === 2;
        const test = isLoose
          ? `${value} ${isEqual ? "==" : "!="} nil`
          : isEqual
          ? absenceOf(value)
          : existenceOf(value);
        return { text: test, isTest: true };
      }
      if (left.type === "UnaryExpression" && left.operator === "typeof") {
        const value = text(left.argument);
        const test = Object.entries(TYPE_TESTS).find(([type]) => type === textOf(right))?.[1];
        return value && test
          ? { text: isEqual ? test(value) : `not (${test(value)})`, isTest: true }
          : null;
      }
    }
    const found = left.type === "CallExpression" && left.callee.type === "MemberExpression" &&
        sourceOf(left.callee.property, this.plain) === "indexOf" && left.arguments[0]
      ? { value: text(left.callee.object as SyntaxNode), part: text(left.arguments[0]) }
      : undefined;
    if (found?.value && found.part) {
      const bound = sourceOf(right, this.plain).replace(/\s/g, "");
      const has = containsOf(found.value, found.part);
      if (/^!==?$|^>$/.test(operator) && bound === "-1" || operator === ">=" && bound === "0") {
        return { text: has, isTest: true };
      }
      return isEqual && bound === "-1" ? { text: `not (${has})`, isTest: true } : null;
    }
    if (isEqual && callOf(left) === "JSON.stringify" && callOf(right) === "JSON.stringify") {
      const [a, b] = [left, right].map((one) =>
        text((one as { arguments: SyntaxNode[] }).arguments[0]!)
      );
      return a && b ? { text: `${a} == ${b}`, isTest: true } : null;
    }
    if (!/^[-+*/%]$/.test(operator)) return undefined;
    const [a, b] = [text(left), text(right)];
    if (!a || !b) return null;
    const isText = operator === "+" && [a, b].some((one) => /^'|^string\(| \+ '/.test(one));
    return { text: isText ? `${stringOf(a)} + ${stringOf(b)}` : `(${a} ${operator} ${b})` };
  }

  /** Makes a part of another response an output of its step. */
  #capture(owner: K6Step, node: SyntaxNode, scope: Scope): ScriptValue | null {
    const value = this.read(node, scope, owner);
    if (!value) return null;
    const output = owner.captured.getOrInsertComputed(value.text, () => {
      const [, key = "value"] = /([A-Za-z_]\w*)['"\])]*$/.exec(value.text) ?? [];
      const name = node.type === "Identifier" ? node.name : key === "body" ? "value" : key;
      owner.request.capture(name, value.text);
      return Object.keys(owner.request.outputs).at(-1)!;
    });
    return { text: `outputs.${output}` };
  }
}
