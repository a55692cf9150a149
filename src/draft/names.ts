import {
  type Data,
  environmentName,
  joinTemplate,
  mapTexts,
  quoteText,
  snakeCase,
  Template,
  type TemplatePart,
  type Text,
  UniqueNames,
  writeText,
} from "./draft.ts";
import type { Value } from "../base/value/value.ts";

/** `{{ name }}` */
const VARIABLE = /\{\{\s*([^{}]+?)\s*\}\}/g;

/** Values that tools make up anew for each request, by their names. */
const DYNAMIC: Readonly<Record<string, string>> = {
  guid: "uuid()",
  uuid: "uuid()",
  randomuuid: "uuid()",
  newuuid: "uuid()",
  newdate: "now()",
  isotimestamp: "now()",
  timestamp: "unixtime()",
  randomint: "random_int(1000)",
};

/** The same for values that are made with arguments: `$randomInt 1 9`, `$random.integer(1, 9)`. */
function madeAnew(name: string): string | undefined {
  const [, from, to] = /^\$random(?:Int |\.integer\()\s*(\d+)[\s,]+(\d+)\)?$/.exec(name) ?? [];
  if (to !== undefined) return `${from} + random_int(${Number(to) - Number(from)})`;
  const [, length] = /^\$random\.(?:alphanumeric|alphabetic)\((\d+)\)$/.exec(name) ?? [];
  if (length !== undefined) return `random_str(${length})`;
  return /^\$(?:datetime|localDatetime) iso8601$/.test(name) ? "now()" : undefined;
}

/** Replaces the variables in a text, and those in their values. */
export function putVariables(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replace(VARIABLE, (whole, name) => {
    const value = variables.get(name);
    if (value === undefined) return whole;
    const others = new Map(variables);
    others.delete(name);
    return putVariables(value, others);
  });
}

/** How the tools read the environment: `{{$processEnv NAME}}`, `{{process.env.NAME}}`. */
const ENVIRONMENT = /^\$?(?:process\.?env|env|dotenv|getEnv)[.\s]+/i;

/**
 * The variables of another tool: values from its files become `vars`, what a response gave becomes
 * an output, and what nothing defines is a var without a value. Only what the tool itself reads
 * from the environment is read from there.
 */
export class Names {
  readonly #vars: Record<string, Value> = {};
  readonly #names = new UniqueNames();
  readonly #varOf = new Map<string, string>();
  readonly #outputOf = new Map<string, string>();
  /** The vars of names with their values. */
  readonly #scoped = new Map<string, string>();
  /** The vars that requests read. */
  readonly #read = new Set<string>();
  readonly #unknown = new Set<string>();

  /** Values that the tool makes and we do not. */
  get notes(): readonly string[] {
    return [...this.#unknown].map((name) => `the value ${name}, which the tool makes`);
  }

  /** Defines a variable with a value, whose text may have other variables in it. */
  define(name: string, value: Data): void {
    const read = (name: string) => this.#expressionOf(name);
    const texts = mapTexts(
      value,
      (text: Text) => typeof text === "string" ? this.template(text, VARIABLE, read) : text,
    );
    this.#vars[this.#varFor(name)] = mapTexts(texts, writeText) as Value;
  }

  /** Defines a variable with a template that is used as it is. */
  defineTemplate(name: string, template: string): void {
    this.#vars[this.#varFor(name)] ??= template;
  }

  /**
   * Defines a variable from here on, until the result is called. Where the name already has another
   * value, which earlier requests read, it becomes another var.
   */
  defineFromHere(name: string, value: Data): () => void {
    const [earlier, output] = [this.#varOf.get(name), this.#outputOf.get(name)];
    this.#outputOf.delete(name);
    const key = JSON.stringify([name, value]);
    const known = this.#scoped.get(key);
    if (known !== undefined) this.#varOf.set(name, known);
    else {
      if (earlier !== undefined) {
        this.#varOf.set(name, this.#names.take(snakeCase(name) ?? "value"));
      }
      this.define(name, value);
      this.#scoped.set(key, this.#varFor(name));
    }
    return () => {
      if (earlier === undefined) this.#varOf.delete(name);
      else this.#varOf.set(name, earlier);
      if (output !== undefined) this.#outputOf.set(name, output);
    };
  }

  /**
   * The vars of the workflow, which cannot read each other: each has the texts of the others, and
   * those that only others read are left out, as are those that only hold what a response gives,
   * and those that need one without a value.
   */
  get vars(): Record<string, Value> {
    const inline = (value: Value, seen: readonly string[]): Value =>
      typeof value !== "string" ? value : value.replace(VARS, (whole, name) => {
        const other = this.#vars[name];
        if (other === undefined || seen.includes(name)) return whole;
        return String(inline(other, [...seen, name]));
      });
    const texts = Object.values(this.#vars).map(String).join("\n");
    const internal = new Set([
      ...[...texts.matchAll(VARS)].map(([, name]) => name),
      ...this.#scoped.values(),
      ...[...this.#outputOf.keys()].map((name) => this.#varOf.get(name)),
    ]);
    return Object.fromEntries(
      Object.entries(this.#vars)
        .filter(([name, value]) =>
          (this.#read.has(name) || !internal.has(name)) && (value === null || !this.#isUnset(name))
        )
        .map(([name, value]) => [name, inline(value, [name])]),
    );
  }

  /** A response gives a value to a name from here on; the name of the output, like `wanted`. */
  capture(name: string, wanted = name): string {
    return this.#outputOf.getOrInsertComputed(
      name,
      () => this.#names.take(snakeCase(wanted) ?? "value"),
    );
  }

  /**
   * The same where a later response gives a new value to a name: another output, because a name
   * without a step belongs to the first step that publishes it.
   */
  captureAnew(name: string): string {
    this.#outputOf.delete(name);
    return this.capture(name);
  }

  /** A text whose variable at its beginning is replaced by its value, if that is known. */
  startOf(text: string): string {
    const [whole = "", name = ""] = /^\{\{\s*([^{}]+?)\s*\}\}/.exec(text) ?? [];
    const known = (value: Value | undefined, rest: string, depth: number): string | undefined => {
      if (typeof value !== "string" || value === "" || depth > 9) return undefined;
      const [inner = "", variable] = /^\{\{vars\.(\w+)\}\}/.exec(value) ?? [];
      return variable === undefined
        ? value + rest
        : known(this.#vars[variable], value.slice(inner.length) + rest, depth + 1);
    };
    if (this.#outputOf.has(name)) return text;
    return known(this.#vars[this.#varOf.get(name) ?? ""], text.slice(whole.length), 0) ?? text;
  }

  /** The expression by which a request reads a variable. */
  read(name: string): string {
    return this.#readOf(this.#expressionOf(name));
  }

  /** Reads a var; one that needs another one without a value is the sum of its parts. */
  #readOf(expression: string): string {
    const [, name] = /^vars\.(\w+)$/.exec(expression) ?? [];
    if (name === undefined) return expression;
    const value = this.#vars[name]!;
    if (value === null || !this.#isUnset(name)) {
      this.#read.add(name);
      return expression;
    }
    const [, only] = /^\{\{([^{}]*)\}\}$/.exec(String(value)) ?? [];
    if (only !== undefined) return this.#readOf(only);
    const parts = String(value).split(/\{\{(.*?)\}\}/s).map((part, index) =>
      index % 2 === 0 ? quoteText(part) : `string(${this.#readOf(part)})`
    );
    return `(${parts.filter((part) => part !== "''").join(" + ")})`;
  }

  /** Whether a var, or another one that its text has, has no value. */
  #isUnset(name: string, seen: readonly string[] = []): boolean {
    const value = this.#vars[name];
    return value === null || typeof value === "string" && !seen.includes(name) &&
        [...value.matchAll(VARS)].some(([, other]) => this.#isUnset(other!, [...seen, name]));
  }

  /** A text of the format, as a template if it contains `{{name}}`. */
  template(text: string, pattern = VARIABLE, read = (name: string) => this.read(name)): Text {
    const parts: TemplatePart[] = [];
    let end = 0;
    for (const match of text.matchAll(pattern)) {
      parts.push(text.slice(end, match.index), { expression: read(match[1]!) });
      end = match.index + match[0].length;
    }
    return end === 0 ? text : new Template(joinTemplate([...parts, text.slice(end)]));
  }

  #expressionOf(name: string): string {
    const output = this.#outputOf.get(name);
    if (output !== undefined) return `outputs.${output}`;
    const dynamic = DYNAMIC[name.replace(/^\$(?:random\.)?/, "").toLowerCase()];
    const isDynamic = name.startsWith("$") || /^new(?:Uuid|Date)$/.test(name);
    if (isDynamic && dynamic !== undefined) return dynamic;
    const made = madeAnew(name);
    if (made !== undefined) return made;
    const variable = this.#varFor(name);
    if (!Object.hasOwn(this.#vars, variable)) {
      const bare = name.replace(ENVIRONMENT, "");
      this.#vars[variable] = bare === name ? null : `{{${environmentName(bare)}}}`;
      if (name.startsWith("$") && bare === name) this.#unknown.add(name);
    }
    return `vars.${variable}`;
  }

  #varFor(name: string): string {
    return this.#varOf.getOrInsertComputed(
      name,
      () =>
        this.#names.take(snakeCase(name.replace(ENVIRONMENT, "").replace(/^\$/, "")) ?? "value"),
    );
  }
}

/** A template that reads a var. */
const VARS = /\{\{vars\.(\w+)\}\}/g;
