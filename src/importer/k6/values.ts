import type { Value } from "../../base/value/value.ts";
import {
  environmentName,
  joinTemplate,
  literalText,
  quoteText,
  type TemplatePart,
} from "../../openapi/gen/templates.ts";
import { headerOf, keyOf, literal } from "../expressions.ts";
import type { Names } from "../import_names.ts";
import type { K6Step, Known } from "./known.ts";

export const BODY = "(res.rawbody ?? res.body)";

/** The parts of a response, by the names of k6. */
const RESPONSE: Readonly<Record<string, string>> = {
  status: "res.code",
  body: BODY,
  url: "res.url",
};

const TIMINGS: Readonly<Record<string, string>> = {
  duration: "rt.sec * 1000",
  waiting: "res.timing.first_byte * 1000",
};

/** The part of an unknown value that names the variable that it is read from. */
const LONGEST_NAME = 40;

/** Makes templates, expressions and constants of what is known of the values of a script. */
export abstract class K6Values {
  /** The step whose tests are being read. */
  protected current: K6Step | undefined;

  constructor(readonly names: Names) {}

  abstract note(text: string): void;

  /** A member of a value. */
  member(value: Known, key: string, optional = false): Known {
    const unknown: Known = { type: "unknown", source: key };
    switch (value.type) {
      case "map":
        return value.fields.get(key) ?? unknown;
      case "list":
        return key === "length"
          ? { type: "plain", value: value.items.length }
          : value.items[Number(key)] ?? unknown;
      case "row":
        return { type: "expression", text: `vars${keyOf(key)}` };
      case "response": {
        const { step } = value;
        if (/^(?:headers|timings)$/.test(key)) return { type: "part", step, name: key };
        return Object.hasOwn(RESPONSE, key)
          ? { type: "expression", text: RESPONSE[key]!, owner: step }
          : unknown;
      }
      case "part": {
        const text = value.name === "headers" ? headerOf(key) : TIMINGS[key];
        return text === undefined ? unknown : { type: "expression", text, owner: value.step };
      }
      case "rows": {
        const text = this.expressionOf(value);
        return text === undefined ? unknown : this.member({ type: "expression", text }, key);
      }
      case "expression": {
        const { text, owner, isTest } = value;
        if (isTest) return unknown;
        if (key === "length") {
          return { type: "expression", text: `len(${text})`, owner };
        }
        const path = keyOf(/^\d+$/.test(key) ? Number(key) : key);
        const mark = optional ? path.startsWith(".") ? "?" : "?." : "";
        return { type: "expression", text: text + mark + path, owner };
      }
    }
    return unknown;
  }

  /** A value as a parameter. */
  valueOf(value: Known): Value {
    switch (value.type) {
      case "plain":
        return value.value;
      case "list":
        return value.items.map((one) => this.valueOf(one));
      case "map":
        return Object.fromEntries(
          [...value.fields].map(([key, field]) => [key, this.valueOf(field)]),
        );
    }
    return this.templateOf(value);
  }

  /** A value as a text. */
  templateOf(value: Known): string {
    return joinTemplate(this.partsOf(value));
  }

  /** The parts of a text; what is not known is read from the environment. */
  protected partsOf(value: Known): readonly TemplatePart[] {
    if (value.type === "text") return value.parts;
    if (value.type === "plain") return [String(value.value)];
    const expression = this.expressionOf(value);
    if (expression !== undefined) return [{ expression }];
    const source = sourceIn(value);
    const name = source.slice(0, LONGEST_NAME);
    this.note(`${source}: it is read from ${environmentName(name)}`);
    return [{ expression: this.fromEnvironment(name) }];
  }

  /** The var of a variable of the environment, which no name of the script is. */
  protected fromEnvironment(name: string): string {
    const template = `{{${environmentName(name)}}}`;
    this.names.defineTemplate(template, template);
    return this.names.read(template);
  }

  /** A value as an expression. */
  expressionOf(value: Known): string | undefined {
    switch (value.type) {
      case "plain":
        return literal(value.value);
      case "text":
        return value.parts.map((part) =>
          typeof part === "string" ? quoteText(part) : `string(${part.expression})`
        ).join(" + ") || "''";
      case "variable":
        this.names.defineTemplate(value.name, value.template);
        return this.names.read(value.name);
      case "rows":
        return value.isTable ? undefined : `read_json(${quoteText(value.file)})`;
      case "file":
        return `read_text(${quoteText(value.path)})`;
      case "list": {
        const items = value.items.map((one) => this.expressionOf(one));
        return items.includes(undefined) ? undefined : `[${items.join(", ")}]`;
      }
      case "expression": {
        const text = value.isTest ? `(${value.text})` : value.text;
        if (!value.owner || value.owner === this.current) return text;
        return `outputs.${captureIn(value.owner, text)}`;
      }
    }
    return undefined;
  }

  /** A value that does not depend on the run; fields that do are noted and left out. */
  constantOf(value: Known): Value | undefined {
    switch (value.type) {
      case "plain":
        return value.value;
      case "text": {
        const [part = "", ...others] = value.parts;
        return typeof part === "string" && others.length === 0 ? part : undefined;
      }
      case "variable": {
        const { template, constant } = value;
        if (template.startsWith("{{")) {
          this.note(`${template}: ${JSON.stringify(constant)} is used`);
        }
        return constant;
      }
      case "list": {
        const items = value.items.map((one) => this.constantOf(one));
        return items.includes(undefined) ? undefined : items as Value[];
      }
      case "map": {
        const fields: Record<string, Value> = {};
        for (const [key, field] of value.fields) {
          const constant = this.constantOf(field);
          if (constant !== undefined) fields[key] = constant;
          else this.note(`${key}: ${sourceIn(field)}`);
        }
        return fields;
      }
    }
    return undefined;
  }

  /** A value under a name of the module. */
  shared(name: string, value: Known): Known {
    if (value.type === "variable") return { ...value, name };
    const constant = value.type === "text" ? this.constantOf(value) : undefined;
    return typeof constant === "string"
      ? { type: "variable", name, template: literalText(constant), constant }
      : value;
  }
}

/** A value for people. */
export function sourceIn(value: Known): string {
  if (value.type === "unknown") return value.source;
  if (value.type === "plain") return String(value.value);
  if (value.type === "expression") return value.text;
  return value.type === "text" ? joinTemplate(value.parts) : `a ${value.type}`;
}

/** Makes a part of the response of a step an output; its name. */
function captureIn({ request, captured }: K6Step, expression: string): string {
  return captured.getOrInsertComputed(expression, () => {
    const [, key = "value"] = /([A-Za-z_]\w*)['"\])]*$/.exec(expression) ?? [];
    request.capture(key === "body" ? "value" : key, expression);
    return Object.keys(request.outputs).at(-1)!;
  });
}
