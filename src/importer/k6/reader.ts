import type { SyntaxNode } from "../../expr/parse/scanner.ts";
import type { Dict } from "../../base/value/value.ts";
import { environmentName } from "../../openapi/gen/templates.ts";
import { absenceOf, existenceOf, keyOf, literal } from "../expressions.ts";
import type { Names } from "../import_names.ts";
import {
  readTest,
  readValue,
  type Script,
  type ScriptValue,
  sourceOf,
  textOf,
} from "../script_values.ts";
import { callOf, isFunction, type Known, type KnownFunction, type Node, Scope } from "./known.ts";
import { BODY, K6Values } from "./values.ts";

/** `__ENV.NAME`, `__ENV["NAME"]` */
const ENV = /^__ENV(?:\.|\[["'`])(\w+)(?:["'`]\])?$/;

/** The rows of a CSV file. */
const CSV = /^\w+\.parse\(open\(["'`]([^"'`$]+)["'`]\), \{ ?header: true,? ?\}\)\.data$/;

/** How a row of data is picked: by the number of the round or the user, or at random. */
const PICKS = /%|random|__VU|__ITER|iteration|idIn|round\./i;

/** Reads the values of a script. */
export abstract class K6Reader extends K6Values {
  /** The file of which each round takes a row. */
  rowsFile: string | undefined;
  /** The variables of the scenario. */
  env: Dict = {};
  /** Whether the job has rounds. */
  hasRounds = false;
  /** Whether each round of the job can take a row. */
  takesRows = false;

  constructor(readonly source: string, names: Names) {
    super(names);
  }

  /** Performs a call that sends, waits or groups; undefined for any other. */
  protected abstract perform(node: Node<"CallExpression">, scope: Scope): Known | undefined;
  /** Translates a call of a function of the script; what it returns. */
  abstract call(called: KnownFunction, args: readonly Known[]): Known;
  /** Whether a part performs something. */
  protected abstract acts(node: SyntaxNode, scope: Scope): boolean;

  /** The text of a part of the script. */
  text(node: SyntaxNode): string {
    const text = sourceOf(node, { text: this.source, aliases: new Map() }).replace(/;$/, "");
    return text.length > 160 ? `${text.slice(0, 157)}...` : text;
  }

  /** What is known of a part of the script. */
  evaluate(node: SyntaxNode, scope: Scope): Known {
    const special = this.#special(node, scope);
    if (special) return special;
    const value = readValue(node, this.#script(scope));
    return value ? { type: "expression", ...value } : this.#unknown(node);
  }

  /** An expression that is truthy in JavaScript; undefined if it cannot be translated. */
  test(node: SyntaxNode, scope: Scope): string | undefined {
    return readTest(node, this.#script(scope))?.replace(/^(?:true && )+(?=.)/, "");
  }

  /** Binds the names of a pattern to a value. */
  bind(target: SyntaxNode, value: Known, scope: Scope): void {
    switch (target.type) {
      case "Identifier":
        return scope.declare(target.name, value);
      case "AssignmentPattern":
        // Whether the value or its default is taken is only known in a run.
        return this.bind(target.left, this.#unknown(target), scope);
      case "ObjectPattern":
        for (const one of target.properties) {
          if (one.type === "RestElement") this.bind(one, value, scope);
          else this.bind(one.value, this.member(value, this.#fieldName(one, scope) ?? ""), scope);
        }
        return;
      case "ArrayPattern":
        target.elements.forEach((one, index) => {
          if (one) this.bind(one, this.member(value, String(index)), scope);
        });
        return;
      case "RestElement":
        this.bind(target.argument, this.#unknown(target), scope);
    }
  }

  /** The scope of a function that is called with these arguments. */
  scopeOf({ node, scope }: KnownFunction, args: readonly Known[]): Scope {
    const inside = new Scope(scope);
    node.params.forEach((parameter: SyntaxNode, index: number) => {
      const [target, fallback] = parameter.type === "AssignmentPattern"
        ? [parameter.left, this.evaluate(parameter.right, scope)]
        : [parameter, this.#unknown(parameter)];
      this.bind(target, args[index] ?? fallback, inside);
    });
    return inside;
  }

  #unknown(node: SyntaxNode): Known {
    return { type: "unknown", source: this.text(node) };
  }

  /** How the other importers read a part of a script; what is special is read here. */
  #script(scope: Scope): Script {
    const own = (node: SyntaxNode): ScriptValue | null | undefined => {
      const value = this.#special(node, scope);
      if (!value) return undefined;
      if (value.type === "response") return { text: "true", isTest: true };
      const text = this.expressionOf(value);
      if (text === undefined) return null;
      return value.type === "expression" && value.isTest
        ? { text: value.text, isTest: true }
        : { text };
    };
    return { text: this.source, aliases: new Map(), own };
  }

  /** What k6 or the script gives a meaning; undefined for other JavaScript. */
  #special(node: SyntaxNode, scope: Scope): Known | undefined {
    switch (node.type) {
      case "ChainExpression":
        return this.evaluate(node.expression, scope);
      case "AwaitExpression":
        return this.evaluate(node.argument, scope);
      case "Identifier":
        return this.#name(node, scope);
      case "Literal":
        if (typeof node.value === "string") return { type: "text", parts: [node.value] };
        return /^(?:number|boolean)$/.test(typeof node.value) || node.raw === "null"
          ? { type: "plain", value: node.value as number | boolean | null }
          : undefined;
      case "TemplateLiteral":
        return {
          type: "text",
          parts: node.quasis.flatMap(({ value }, at) => [
            ...value.cooked ? [value.cooked] : [],
            ...node.expressions[at] ? this.partsOf(this.evaluate(node.expressions[at], scope)) : [],
          ]),
        };
      case "TaggedTemplateExpression":
        return this.text(node.tag) === "http.url" ? this.evaluate(node.quasi, scope) : undefined;
      case "ObjectExpression":
        return this.#map(node, scope);
      case "ArrayExpression":
        return node.elements.some((one) => !one || one.type === "SpreadElement")
          ? this.#unknown(node)
          : { type: "list", items: node.elements.map((one) => this.evaluate(one!, scope)) };
      case "LogicalExpression":
        // What depends on a condition is not performed.
        if (this.acts(node.right, scope)) return this.#unknown(node);
        return node.operator === "&&" ? undefined : this.#envDefault(node, scope);
      case "BinaryExpression":
        return this.#binary(node, scope);
      case "MemberExpression":
        return this.#member(node, scope);
      case "NewExpression":
        return this.#sharedArray(node, scope);
      case "CallExpression": {
        const known = scope.performed.get(node) ?? this.perform(node, scope);
        if (known) scope.performed.set(node, known);
        return known ?? this.#call(node, scope);
      }
    }
    return isFunction(node) ? { type: "function", node, scope } : undefined;
  }

  #name(node: Node<"Identifier">, scope: Scope): Known | undefined {
    const { name } = node;
    if (name === "__ITER") return this.#round("round.index", 0);
    if (name === "__VU") return this.#round("(round.user + 1)", 1);
    return scope.find(name) ?? (name === "undefined" ? undefined : this.#unknown(node));
  }

  #round(text: string, alone: number): Known {
    return this.hasRounds ? { type: "expression", text } : { type: "plain", value: alone };
  }

  #map(node: Node<"ObjectExpression">, scope: Scope): Known {
    const fields = new Map<string, Known>();
    for (const one of node.properties) {
      if (one.type === "SpreadElement") {
        const spread = this.evaluate(one.argument, scope);
        if (spread.type !== "map") return this.#unknown(node);
        for (const [key, field] of spread.fields) fields.set(key, field);
        continue;
      }
      const key = this.#fieldName(one, scope);
      if (key === undefined) return this.#unknown(node);
      fields.set(key, this.evaluate(one.value, scope));
    }
    return { type: "map", fields };
  }

  #fieldName(
    { key, computed }: { readonly key: SyntaxNode; readonly computed: boolean },
    scope: Scope,
  ): string | undefined {
    if (!computed) return textOf(key) ?? this.text(key);
    const name = this.constantOf(this.evaluate(key, scope));
    return isScalar(name) ? String(name) : undefined;
  }

  #member(node: Node<"MemberExpression">, scope: Scope): Known {
    const source = this.text(node);
    const [, variable] = ENV.exec(source) ?? [];
    if (variable !== undefined) return this.#env(variable);
    const [, table] = CSV.exec(source) ?? [];
    if (table !== undefined) return { type: "rows", file: localPath(table), isTable: true };
    if (/^(?:Super|PrivateIdentifier)$/.test(node.object.type)) return this.#unknown(node);
    const object = this.evaluate(node.object as SyntaxNode, scope);
    const property = node.computed ? this.evaluate(node.property, scope) : undefined;
    const how = property?.type === "unknown" ? property.source : this.text(node.property);
    if (property && object.type === "rows" && PICKS.test(how)) return this.#row(object, node);
    const isFixed = !property || property.type === "plain" || property.type === "text";
    const key = property ? isFixed && this.constantOf(property) : this.text(node.property);
    if (!isScalar(key)) return this.#unknown(node);
    const found = this.member(object, String(key), node.optional);
    return found.type === "unknown" ? this.#unknown(node) : found;
  }

  /** `new SharedArray("users", () => …)` */
  #sharedArray(node: Node<"NewExpression">, scope: Scope): Known {
    const make = node.arguments[1];
    const made = make && /SharedArray$/.test(this.text(node.callee))
      ? this.evaluate(make, scope)
      : undefined;
    return made?.type === "function" ? this.call(made, []) : this.#unknown(node);
  }

  /** `__ENV.NAME` */
  #env(name: string): Known {
    const own = this.env[name];
    return own === undefined
      ? { type: "text", parts: [{ expression: this.fromEnvironment(name) }] }
      : { type: "text", parts: [String(own)] };
  }

  /** `__ENV.NAME || "default"` */
  #envDefault(node: Node<"LogicalExpression">, scope: Scope): Known | undefined {
    const [, name] = ENV.exec(this.text(node.left)) ?? [];
    if (name === undefined) return undefined;
    if (this.env[name] !== undefined) return this.#env(name);
    const constant = this.constantOf(this.evaluate(node.right, scope));
    if (!isScalar(constant)) return this.#unknown(node);
    const template = `{{${environmentName(name)} ?? ${literal(constant)}}}`;
    return { type: "variable", name: `{{${name} ??}}`, template, constant };
  }

  #binary(node: Node<"BinaryExpression">, scope: Scope): Known | undefined {
    const { operator } = node;
    const isUndefined = /^(?:undefined|null)$/.exec(this.text(node.right))?.[0];
    if (isUndefined !== undefined && /^[!=]==?$/.test(operator)) {
      const value = this.expressionOf(this.evaluate(node.left as SyntaxNode, scope));
      if (value === undefined) return this.#unknown(node);
      const isEqual = operator.startsWith("=");
      const isStrict = isUndefined === "undefined" && operator.length === 3;
      const text = !isStrict
        ? `${value} ${isEqual ? "==" : "!="} nil`
        : isEqual
        ? absenceOf(value)
        : existenceOf(value);
      return { type: "expression", text, isTest: true };
    }
    if (!/^[-+*/%]$/.test(operator)) return undefined;
    const sides = [node.left as SyntaxNode, node.right].map((side) => this.evaluate(side, scope));
    // Without a text, "+" may add numbers.
    return operator === "+" && sides.some(({ type }) => /^(?:text|variable)$/.test(type))
      ? { type: "text", parts: sides.flatMap((side) => this.partsOf(side)) }
      : this.#unknown(node);
  }

  #call(node: Node<"CallExpression">, scope: Scope): Known | undefined {
    const name = callOf(node);
    const [first] = node.arguments;
    if (name === "randomItem" && first) {
      const rows = this.evaluate(first, scope);
      return rows.type === "rows" ? this.#row(rows, node) : this.#unknown(node);
    }
    if (name === "open" && textOf(first) !== undefined) {
      return { type: "file", path: localPath(textOf(first)!) };
    }
    if (name === "JSON.stringify" && node.arguments.length >= 1) {
      return { type: "json", value: this.evaluate(first!, scope) };
    }
    if (name === "JSON.parse" && first) return this.#parsed(this.evaluate(first, scope), node);
    if (/^(?:encoding\.)?b64encode$/.test(name) && first) {
      const value = this.expressionOf(this.evaluate(first, scope));
      return value === undefined
        ? this.#unknown(node)
        : { type: "expression", text: `encode_base64(${value})` };
    }
    if (node.callee.type !== "MemberExpression") return this.#unknown(node);
    if (this.text(node.callee.property) !== "json") return undefined;
    const about = this.evaluate(node.callee.object as SyntaxNode, scope);
    const path = first ? textOf(first) : "";
    if (about.type !== "response" || path === undefined || !/^[\w.-]*$/.test(path)) {
      return this.#unknown(node);
    }
    const keys = path === "" ? [] : path.split(".");
    const text = keys.map((one) => keyOf(/^\d+$/.test(one) ? Number(one) : one)).join("");
    return { type: "expression", text: `res.body${text}`, owner: about.step };
  }

  /** `JSON.parse(value)` */
  #parsed(value: Known, node: SyntaxNode): Known {
    if (value.type === "file") return { type: "rows", file: value.path };
    if (value.type === "expression" && value.text === BODY) return { ...value, text: "res.body" };
    return this.#unknown(node);
  }

  /** The row of a round, if the job can take rows of this file. */
  #row({ file }: Known & { readonly type: "rows" }, node: SyntaxNode): Known {
    if (!this.takesRows || this.rowsFile !== undefined && this.rowsFile !== file) {
      return this.#unknown(node);
    }
    this.rowsFile = file;
    const source = this.text(node);
    if (!/__ITER|iteration/.test(source)) this.note(`${source}: each round takes the next row`);
    return { type: "row" };
  }
}

function isScalar(value: unknown): value is string | number {
  return typeof value === "string" || typeof value === "number";
}

function localPath(path: string): string {
  return path.replace(/^\.\//, "");
}
