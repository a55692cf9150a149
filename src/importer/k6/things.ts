import type { SyntaxNode } from "../../expr/parse/scanner.ts";
import { type Dict, isDict, type Value } from "../../base/value/value.ts";
import { environmentName, quoteText } from "../../openapi/gen/templates.ts";
import { isSecretName } from "../../secrets/secrets.ts";
import { dictOf, dictsOf } from "../input.ts";
import type { Names } from "../import_names.ts";
import { type Script, sourceOf, textOf } from "../script_values.ts";
import { callOf } from "./library.ts";
import {
  bindParameters,
  type FunctionThing,
  type K6Step,
  lookUp,
  returnOf,
  type Scope,
  type Thing,
  Untranslated,
} from "./scope.ts";

/** Finds what the parts of a script of k6 stand for, without running it. */
export class K6Things {
  /** The rows that the job takes: `data` of `load`. */
  data: Value | undefined;
  /** The variables of the scenario. */
  env: Dict = {};
  /** Whether the job has rounds. */
  hasRounds = true;

  constructor(
    readonly source: string,
    readonly names: Names,
    readonly note: (text: string) => void,
  ) {}

  /** Finds what a part stands for. */
  resolve(node: SyntaxNode, scope: Scope): Thing {
    switch (node.type) {
      case "ChainExpression":
        return this.resolve(node.expression, scope);
      case "AwaitExpression":
        return this.resolve(node.argument, scope);
      case "Identifier": {
        const found = lookUp(node.name, scope);
        if (!found) break;
        return found.thing.type === "node"
          ? this.resolve(found.thing.node, found.thing.scope)
          : found.thing;
      }
      case "CallExpression": {
        if (callOf(node) === "randomItem") {
          return this.#member(node.arguments[0]!, undefined, scope, node);
        }
        const result = this.returned(node, scope);
        return result ? this.resolve(result.node, result.scope) : { type: "node", node, scope };
      }
      case "MemberExpression":
        if (node.object.type === "Super" || node.property.type === "PrivateIdentifier") break;
        return this.#member(node.object, this.keyOf(node, scope), scope, node);
    }
    return { type: "node", node, scope };
  }

  /** The value of a function that only returns one. */
  returned(
    node: SyntaxNode & { readonly type: "CallExpression" },
    scope: Scope,
  ): { readonly node: SyntaxNode; readonly scope: Scope } | undefined {
    const found = this.functionOf(node.callee, scope);
    if (!found) return undefined;
    const { body } = found.node;
    const inside = bindParameters(found, node.arguments, scope);
    if (body.type !== "BlockStatement") return { node: body, scope: inside };
    const [only] = body.body;
    return only?.type === "ReturnStatement" && only.argument
      ? { node: only.argument, scope: inside }
      : undefined;
  }

  /** A function of the script. */
  functionOf(node: SyntaxNode, scope: Scope): FunctionThing | undefined {
    const thing = node.type === "Identifier" || FUNCTION.test(node.type)
      ? this.resolve(node, scope)
      : undefined;
    return thing?.type === "node" && FUNCTION.test(thing.node.type)
      ? thing as FunctionThing
      : undefined;
  }

  /** The key of a member that is known. */
  keyOf(
    node: SyntaxNode & { readonly type: "MemberExpression" },
    scope: Scope,
  ): string | undefined {
    if (!node.computed) return sourceOf(node.property, this.plain);
    const thing = this.resolve(node.property, scope);
    const value = thing.type === "node" && thing.node.type === "Literal" ? thing.node.value : null;
    return typeof value === "string" || typeof value === "number" ? String(value) : undefined;
  }

  #member(object: SyntaxNode, key: string | undefined, scope: Scope, whole: SyntaxNode): Thing {
    const thing = this.resolve(object, scope);
    const unknown: Thing = { type: "node", node: whole, scope };
    if (thing.type === "responses") {
      const [, step] = thing.steps.find(([name]) => name === key) ?? [];
      return step ? { type: "response", step } : unknown;
    }
    if (thing.type !== "node") return unknown;
    const isNext = key === undefined && this.#isCounted(whole, scope);
    const rows = isNext ? this.rowsOf(thing.node, thing.scope) : undefined;
    if (rows !== undefined) {
      this.data = this.#withoutSecrets(rows);
      const picked = sourceOf(whole, this.plain);
      if (/random/i.test(picked)) this.note(`${picked}: each round takes the next row, not any`);
      return { type: "row" };
    }
    if (key === undefined) return unknown;
    if (thing.node.type === "ArrayExpression") {
      const item = thing.node.elements[Number(key)];
      return item ? this.resolve(item, thing.scope) : unknown;
    }
    const value = thing.node.type === "ObjectExpression"
      ? this.fieldsOf(thing.node, thing.scope).get(key)
      : undefined;
    return value ? this.resolve(value.node, value.scope) : unknown;
  }

  /** Whether a member is picked by a number: of the round or the user, or at random. */
  #isCounted(node: SyntaxNode, scope: Scope): boolean {
    if (node.type !== "MemberExpression") return true;
    const thing = this.resolve(node.property as SyntaxNode, scope);
    return thing.type === "node" &&
      /%|random|__VU|__ITER|iteration|idIn|\.length/i.test(sourceOf(thing.node, this.plain));
  }

  /** Rows whose secrets are read from the environment. */
  #withoutSecrets(rows: Value): Value {
    const { list } = dictOf(rows);
    if (list === undefined) return rows;
    return {
      list: dictsOf(list).map((row, index) =>
        Object.fromEntries(
          Object.entries(row).map(([name, value]) => {
            if (typeof value !== "string" || !isSecretName(name)) return [name, value];
            const variable = `${name}_${index + 1}`;
            this.names.defineTemplate(variable, `{{${environmentName(variable)}}}`);
            return [name, `{{${this.names.read(variable)}}}`];
          }),
        )
      ),
    };
  }

  /** The rows of a file, or a list of maps: `new SharedArray("users", () => …)`. */
  rowsOf(node: SyntaxNode, scope: Scope): Value | undefined {
    if (node.type === "NewExpression" && /SharedArray$/.test(sourceOf(node.callee, this.plain))) {
      const made = node.arguments[1] && this.functionOf(node.arguments[1], scope);
      const file = made &&
        /\bopen\(\s*["'`]([^"'`$]+)["'`]\s*\)/.exec(sourceOf(made.node, this.plain));
      if (file) {
        const isWhole = !/JSON\.parse\([^)]*\)\s*\)?\s*[.[]/.test(
          sourceOf(made!.node, this.plain),
        );
        if (!isWhole) this.note(`${file[1]}: load needs a file that is a list`);
        return { file: file[1]!.replace(/^\.\//, "") };
      }
      const result = made && returnOf(made.node);
      return result ? this.rowsOf(result, made.scope) : undefined;
    }
    const source = sourceOf(node, this.plain);
    const [, file] = /^(?:JSON\.parse|\w+\.parse)\(open\(["'`]([^"'`$]+)["'`]\)[^)]*\)(?:\.data)?$/
      .exec(source.replace(/\(\s+/g, "(")) ?? [];
    if (file !== undefined) return { file: file.replace(/^\.\//, "") };
    if (node.type === "Identifier") {
      const thing = this.resolve(node, scope);
      return thing.type === "node" && thing.node !== node
        ? this.rowsOf(thing.node, thing.scope)
        : undefined;
    }
    if (node.type !== "ArrayExpression" || node.elements.length === 0) return undefined;
    const list = this.constant(node, scope);
    return Array.isArray(list) && list.every(isDict) ? { list } : undefined;
  }

  /** The fields of an object, with those that it spreads. */
  fieldsOf(
    node: SyntaxNode,
    scope: Scope,
  ): Map<string, { readonly node: SyntaxNode; readonly scope: Scope }> {
    const fields = new Map<string, { node: SyntaxNode; scope: Scope }>();
    const thing = this.resolve(node, scope);
    if (thing.type !== "node") throw new Untranslated(node);
    if (callOf(thing.node) === "Object.assign" && thing.node.type === "CallExpression") {
      for (const one of thing.node.arguments) {
        for (const [key, field] of this.fieldsOf(one, thing.scope)) fields.set(key, field);
      }
      return fields;
    }
    if (thing.node.type !== "ObjectExpression") throw new Untranslated(node);
    for (const field of thing.node.properties) {
      if (field.type === "SpreadElement") {
        try {
          for (const [key, one] of this.fieldsOf(field.argument, thing.scope)) fields.set(key, one);
        } catch (error) {
          if (!(error instanceof Untranslated)) throw error;
          this.note(`${sourceOf(field, this.plain)}, of which nothing is known`);
        }
      } else {
        const key = field.computed
          ? this.constant(field.key, thing.scope)
          : textOf(field.key) ?? sourceOf(field.key, this.plain);
        if (typeof key !== "string") throw new Untranslated(node);
        fields.set(key, { node: field.value, scope: thing.scope });
      }
    }
    return fields;
  }

  /** The step whose response a chain of members and calls begins with. */
  ownerOf(node: SyntaxNode, scope: Scope): K6Step | undefined {
    switch (node.type) {
      case "MemberExpression":
        return this.#stepOf(node, scope) ?? this.ownerOf(node.object as SyntaxNode, scope);
      case "CallExpression":
        if (callOf(node) === "JSON.parse" && node.arguments[0]) {
          return this.ownerOf(node.arguments[0], scope);
        }
        return node.callee.type === "MemberExpression"
          ? this.ownerOf(node.callee.object as SyntaxNode, scope)
          : undefined;
      case "Identifier":
        return this.#stepOf(node, scope);
    }
    return undefined;
  }

  #stepOf(node: SyntaxNode, scope: Scope): K6Step | undefined {
    const thing = this.resolve(node, scope);
    if (thing.type === "response") return thing.step;
    return thing.type === "node" && thing.node !== node
      ? this.ownerOf(thing.node, thing.scope)
      : undefined;
  }

  /** A value that is known without a run; random numbers have their mean. */
  constant(node: SyntaxNode, scope: Scope): Value | undefined {
    const read = (one: SyntaxNode) => this.constant(one, scope);
    if (node.type === "Literal") {
      const { value } = node;
      return typeof value === "bigint" || value instanceof RegExp ? undefined : value;
    }
    if (node.type === "UnaryExpression" && /^[-+]$/.test(node.operator)) {
      const value = Number(read(node.argument) ?? NaN);
      return Number.isNaN(value) ? undefined : node.operator === "-" ? -value : value;
    }
    if (node.type === "LogicalExpression" && node.operator !== "&&") {
      const value = read(node.left) ?? read(node.right);
      if (value !== undefined && /__ENV/.test(sourceOf(node.left, this.plain))) {
        this.note(`${sourceOf(node, this.plain)}: ${JSON.stringify(value)} is used`);
      }
      return value;
    }
    if (node.type === "BinaryExpression") {
      const [left, right] = [read(node.left as SyntaxNode), read(node.right)];
      return left === undefined || right === undefined
        ? undefined
        : compute(node.operator, left, right);
    }
    if (node.type === "ArrayExpression") {
      const items = node.elements.map((one) => one ? read(one) : undefined);
      return items.every((one) => one !== undefined) ? items : undefined;
    }
    if (node.type === "ObjectExpression") {
      const fields: Record<string, Value> = {};
      for (const [key, field] of this.fieldsOf(node, scope)) {
        const value = this.constant(field.node, field.scope);
        if (value !== undefined) fields[key] = value;
        else if (!/Function/.test(field.node.type)) {
          this.note(`${key}: ${sourceOf(field.node, this.plain)}`);
        }
      }
      return fields;
    }
    if (node.type === "TemplateLiteral") {
      const parts = node.expressions.map(read);
      return parts.includes(undefined)
        ? undefined
        : node.quasis.map(({ value }, at) => `${value.cooked}${parts[at] ?? ""}`).join("");
    }
    if (node.type === "CallExpression") {
      const [first, second] = node.arguments.map((one) => read(one));
      switch (callOf(node)) {
        case "Math.random":
          return 0.5;
        case "randomIntBetween":
          return (Number(first) + Number(second)) / 2;
        case "Math.floor":
        case "Math.round":
        case "Math.ceil":
        case "parseInt":
        case "parseFloat":
        case "Number":
          return first === undefined || Number.isNaN(Number(first)) ? undefined : Number(first);
      }
    }
    const env = this.envName(node);
    if (env !== undefined) return this.env[env];
    const thing = this.resolve(node, scope);
    return thing.type === "node" && thing.node !== node
      ? this.constant(thing.node, thing.scope)
      : undefined;
  }

  /** `__ENV.NAME`, with the expression of a default. */
  envDefault(node: SyntaxNode, scope: Scope): [true, string, string | undefined] | undefined {
    const name = this.envName(node);
    if (name !== undefined) return [true, name, undefined];
    if (node.type === "LogicalExpression" && node.operator !== "&&") {
      const left = this.envName(node.left);
      const fallback = left === undefined ? undefined : this.constant(node.right, scope);
      if (left === undefined || fallback === undefined || typeof fallback === "object") {
        return undefined;
      }
      return [true, left, quoteText(String(fallback))];
    }
    if (node.type !== "ConditionalExpression") return undefined;
    const [test, fallback] = [this.envName(node.test), this.constant(node.alternate, scope)];
    return test !== undefined && test === this.envName(node.consequent) &&
        typeof fallback === "string"
      ? [true, test, quoteText(fallback)]
      : undefined;
  }

  envName(node: SyntaxNode): string | undefined {
    const [, name, other] =
      /^__ENV(?:\.(\w+)|\[["'`](\w+)["'`]\])$/.exec(sourceOf(node, this.plain)) ?? [];
    return name ?? other;
  }

  get plain(): Script {
    return { text: this.source, aliases: new Map() };
  }
}

const FUNCTION = /Function(?:Expression|Declaration)$/;

function compute(operator: string, left: Value, right: Value): Value | undefined {
  if (operator === "+") return (left as number) + (right as number);
  const [a, b] = [Number(left), Number(right)];
  const result = operator === "-"
    ? a - b
    : operator === "*"
    ? a * b
    : operator === "/"
    ? a / b
    : NaN;
  return Number.isNaN(result) ? undefined : result;
}
