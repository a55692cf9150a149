import { joinTemplate, literalText, type TemplatePart } from "../openapi/gen/templates.ts";
import { environmentName, snakeCase, UniqueNames } from "../openapi/gen/templates.ts";
import type { Value } from "../base/value/value.ts";

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

/** A text with the texts of variables in their places, in which there may be others. */
export function putVariables(text: string, variables: ReadonlyMap<string, string>): string {
  return text.replace(/\{\{\s*([^{}]+?)\s*\}\}/g, (whole, name) => {
    const value = variables.get(name);
    if (value === undefined) return whole;
    const others = new Map(variables);
    others.delete(name);
    return putVariables(value, others);
  });
}

/**
 * The variables of another tool: values from its files become `vars`, what a response gave becomes
 * an output, and what nothing defines is read from the environment.
 */
export class Names {
  readonly #vars: Record<string, Value> = {};
  readonly #names = new UniqueNames();
  readonly #known = new Map<string, string>();
  readonly #captured = new Map<string, string>();
  /** The vars of names with their values. */
  readonly #scoped = new Map<string, string>();
  /** The vars that requests read, and those that the values of vars read. */
  readonly #read = { requests: new Set<string>(), vars: new Set<string>() };
  #reader: "requests" | "vars" = "requests";
  readonly #unknown = new Map<string, string>();

  /** Values that the tool makes and we do not. */
  get notes(): readonly string[] {
    return [...this.#unknown].map(([name, own]) =>
      `the value ${name}, which the tool makes: it is read from ${own}`
    );
  }

  /** Defines a variable with a value, whose text may have other variables in it. */
  define(name: string, value: Value): void {
    const own = this.#nameOf(name);
    this.#reader = "vars";
    this.#vars[own] = typeof value === "string" ? this.template(value) : value;
    this.#reader = "requests";
  }

  /**
   * Defines a variable from here on. Where the name already has another value, which earlier
   * requests read, it becomes another var.
   */
  defineFromHere(name: string, value: Value): void {
    const key = JSON.stringify([name, value]);
    const known = this.#scoped.get(key);
    if (known !== undefined) {
      this.#known.set(name, known);
      return;
    }
    if (this.#known.has(name)) {
      this.#known.set(name, this.#names.take(snakeCase(name) ?? "value"));
    }
    this.define(name, value);
    this.#scoped.set(key, this.#nameOf(name));
  }

  /**
   * The vars of the workflow, which cannot read each other: each has the texts of the others, and
   * those that only others read are left out, as are those that only hold what a response gives.
   */
  get vars(): Record<string, Value> {
    const inline = (text: string, seen: readonly string[]): string =>
      text.replace(/\{\{vars\.(\w+)\}\}/g, (whole, name) => {
        const value = this.#vars[name];
        if (value === undefined || seen.includes(name)) return whole;
        return typeof value === "string" ? inline(value, [...seen, name]) : String(value);
      });
    const { requests, vars } = this.#read;
    const scoped = new Set(this.#scoped.values());
    const given = new Set([...this.#captured.keys()].map((name) => this.#known.get(name)));
    const used = Object.entries(this.#vars).filter(([name]) =>
      requests.has(name) || !vars.has(name) && !scoped.has(name) && !given.has(name)
    );
    return Object.fromEntries(
      used.map(([name, value]) => [
        name,
        typeof value === "string" ? inline(value, [name]) : value,
      ]),
    );
  }

  /** A response gives a value to a name from here on; the name of the output, like `wanted`. */
  capture(name: string, wanted = name): string {
    const own = this.#captured.get(name) ?? this.#names.take(snakeCase(wanted) ?? "value");
    this.#captured.set(name, own);
    return own;
  }

  /**
   * The same where a later response gives a new value to a name: an output of its own, because a
   * name without a step belongs to the first step that publishes it.
   */
  captureAnew(name: string): string {
    this.#captured.delete(name);
    return this.capture(name);
  }

  /** The expression that reads a variable. */
  read(name: string): string {
    const captured = this.#captured.get(name);
    if (captured !== undefined) return `outputs.${captured}`;
    const dynamic = DYNAMIC[name.replace(/^\$(?:random\.)?/, "").toLowerCase()];
    const isDynamic = name.startsWith("$") || /^new(?:Uuid|Date)$/.test(name);
    if (isDynamic && dynamic !== undefined) return dynamic;
    const made = madeAnew(name);
    if (made !== undefined) return made;
    const own = this.#nameOf(name);
    if (!Object.hasOwn(this.#vars, own)) {
      const bare = name.replace(/^\$?(?:process\.?env|env|dotenv|getEnv)[.\s]+/i, "");
      this.#vars[own] = `{{${environmentName(bare)}}}`;
      if (name.startsWith("$") && bare === name) this.#unknown.set(name, environmentName(bare));
    }
    this.#read[this.#reader].add(own);
    return `vars.${own}`;
  }

  /** A text with `{{name}}` in it as a template of ours. */
  template(text: string, pattern = /\{\{\s*([^{}]+?)\s*\}\}/g): string {
    const parts: TemplatePart[] = [];
    let end = 0;
    for (const match of text.matchAll(pattern)) {
      parts.push(text.slice(end, match.index), { expression: this.read(match[1]!) });
      end = match.index + match[0].length;
    }
    if (parts.length === 0) return literalText(text);
    return joinTemplate([...parts, text.slice(end)]);
  }

  #nameOf(name: string): string {
    const known = this.#known.get(name);
    if (known !== undefined) return known;
    const own = this.#names.take(snakeCase(name.replace(/^\$/, "")) ?? "value");
    this.#known.set(name, own);
    return own;
  }
}
