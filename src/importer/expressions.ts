import { quoteText } from "../openapi/make/literal.ts";
import type { Value } from "../value/value.ts";

/** A value as a literal of the expression language. */
export function literal(value: Value): string {
  if (typeof value === "string") return quoteText(value);
  if (value === null) return "nil";
  if (typeof value !== "object") return String(value);
  if (Array.isArray(value)) return `[${value.map(literal).join(", ")}]`;
  return `{${
    Object.entries(value).map(([name, field]) => `${quoteText(name)}: ${literal(field)}`).join(", ")
  }}`;
}

/** The value under a key: `.name`, `["a b"]`. */
export function keyOf(name: string | number): string {
  if (typeof name === "number") return `[${name}]`;
  return /^[A-Za-z_]\w*$/.test(name) ? `.${name}` : `[${quoteText(name)}]`;
}

/** A header of the response, whose names are written like `Content-Type`. */
export function headerOf(name: string): string {
  const canonical = name.toLowerCase().replace(
    /(^|-)([a-z])/g,
    (_, mark, letter) => mark + letter.toUpperCase(),
  );
  return `res.headers[${quoteText(canonical)}]`;
}

/** The value that a JSONPath finds: by keys where it is that simple. */
export function jsonPathOf(path: string, whole = "res.body"): string {
  const simple = /^\$?((?:\.[A-Za-z_]\w*|\[\d+\]|\['[^']*'\]|\["[^"]*"\])*)$/.exec(path.trim());
  if (!simple) return `first(json_path(${whole}, ${quoteText(path)}))`;
  return whole + simple[1]!.replace(/\[(['"])(.*?)\1\]/g, (_, _quote, name) => keyOf(name));
}

/** The literal of JavaScript in a text as one of ours; undefined where it is more than a literal. */
export function scriptLiteral(text: string): string | undefined {
  const trimmed = text.trim();
  const quoted = /^(["'`])((?:[^\\]|\\.)*?)\1$/s.exec(trimmed);
  if (quoted && !(quoted[1] === "`" && quoted[2]!.includes("${"))) {
    return quoteText(
      quoted[2]!.replace(/\\(.)/gs, (_, one) => ({ n: "\n", t: "\t" })[one as string] ?? one),
    );
  }
  if (trimmed === "null" || trimmed === "undefined") return "nil";
  if (/^(?:true|false|-?\d+(?:\.\d+)?)$/.test(trimmed)) return trimmed;
  const list = /^\[(.*)\]$/s.exec(trimmed);
  if (!list) return undefined;
  const items = list[1]!.trim() === "" ? [] : list[1]!.split(",").map(scriptLiteral);
  return items.includes(undefined) ? undefined : `[${items.join(", ")}]`;
}
