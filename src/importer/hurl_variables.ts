import { joinTemplate, quoteText, Template, type Text } from "../draft/draft.ts";
import { literal } from "./expressions.ts";
import { type Parts, unescape, type Variable, writePart } from "./hurl_entries.ts";
import { tryParseJson } from "../base/value/parse_json.ts";
import type { Value } from "../base/value/value.ts";
import type { Names } from "../draft/names.ts";

/** Texts that are read as a number, a boolean or null in a variable from outside. */
const TYPED = "'^(?:true|false|null|-?(?:0|[1-9][0-9]*)(?:[.][0-9]+)?)$'";

/** The variables of a file, as the entry that is being translated sees them. */
export class Variables {
  readonly #constants = new Map<string, Value>();
  readonly #captured = new Set<string>();
  /** Expressions for variables that are neither a var nor an output of an earlier step. */
  readonly #aliases = new Map<string, string>();

  constructor(readonly names: Names) {}

  /** Defines a variable as an option does: without quotes, its value may be no text. */
  define(name: string, written: string): void {
    const isText = !/^(?:true|false|null|-?(?:0|[1-9]\d*)(?:\.\d+)?)$/.test(written);
    const [, quoted] = /^"(.*)"$/.exec(written) ?? [];
    const parts = isText ? unescape(quoted ?? written) : [];
    const value = isText ? parts.map(writePart).join("") : tryParseJson(written)!;
    const isConstant = parts.every((part) => typeof part === "string");
    const isVar = !this.#captured.has(name) &&
      parts.every((part) => typeof part === "string" || this.#isVar(part.variable));
    const alias = isText ? this.textOf(parts) : literal(value);
    if (isVar) this.names.defineFromHere(name, value);
    else this.#aliases.set(name, alias);
    if (isConstant) this.#constants.set(name, value);
    else this.#constants.delete(name);
  }

  /** Takes a capture whose value, until the step has run, is that of an expression. */
  capture(name: string, expression: string): void {
    this.#captured.add(name);
    this.#constants.delete(name);
    this.#aliases.set(name, `(${expression})`);
  }

  /** Captures are outputs from here on. */
  endCaptures(names: Iterable<string>): void {
    for (const name of names) this.#aliases.delete(name);
  }

  /** The value that the file gives to a variable; undefined if it is known in a run only. */
  constant(name: string): Value | undefined {
    return this.#constants.get(name);
  }

  /** Whether the file defines it. */
  isKnown(name: string): boolean {
    return this.#captured.has(name) || this.#constants.has(name) || this.#aliases.has(name);
  }

  /** The expression of a value with its type, which a variable from outside has by its text. */
  valueOf(name: string): string {
    const read = this.read(name);
    if (this.isKnown(name) || !read.startsWith("vars.")) return read;
    return `(string(${read}) matches ${TYPED} ? fromJSON(string(${read})) : ${read})`;
  }

  textOf(parts: Parts): string {
    const [only = ""] = parts;
    if (parts.length < 2 && typeof only === "string") return quoteText(only);
    return parts.map((part) =>
      typeof part === "string" ? quoteText(part) : this.#stringOf(part, "string")
    ).join(" + ");
  }

  /** A text of a step. Its value is a string, whatever the variable in it is. */
  dataOf(parts: Parts, isJson = false): Text {
    if (parts.every((part) => typeof part === "string")) return parts.join("");
    const [only] = parts;
    // One from outside is a text, or not set, which is then an error.
    const isOutside = typeof only === "object" && !this.isKnown(only.variable);
    const convert = isJson && parts.length === 1 && !isOutside ? "string" : "";
    const written = parts.map((part) =>
      typeof part === "string" ? part : { expression: this.#stringOf(part, convert) }
    );
    const end = isJson && isOutside && parts.length === 1 ? [{ expression: "''" }] : [];
    return new Template(joinTemplate([...written, ...end]));
  }

  #stringOf({ variable, isInJson }: Variable, convert: "string" | ""): string {
    if (this.constant(variable) === null) return "'null'";
    const read = this.read(variable);
    if (isInJson) return `toJSON(string(${read}))[1:-1]`;
    return convert === "" ? read : `string(${read})`;
  }

  /** The expression of a value as it is. */
  read(name: string): string {
    return this.#aliases.get(name) ?? this.names.read(name);
  }

  #isVar(name: string): boolean {
    return !this.#captured.has(name) && !this.#aliases.has(name);
  }
}
