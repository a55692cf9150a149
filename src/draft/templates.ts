/** A template that renders to exactly this text. */
export function literalText(text: string): string {
  return text.replaceAll("{{", "{{ '{{' }}");
}

/** A text as a literal of the expression language. */
export function quoteText(text: string): string {
  const escaped = text.replace(
    // deno-lint-ignore no-control-regex
    /[\\'\0-\x1f\x7f]/g,
    (mark) =>
      mark === "\\" || mark === "'"
        ? `\\${mark}`
        : `\\x${mark.charCodeAt(0).toString(16).padStart(2, "0")}`,
  );
  return `'${escaped}'`;
}

/** Texts and expressions put together as one template. */
export function joinTemplate(parts: readonly TemplatePart[]): string {
  let template = "";
  for (const part of parts) {
    template = typeof part === "string"
      ? template + literalText(part)
      : appendExpression(template, part.expression);
  }
  return template;
}

/** A template and an expression; a brace before it would become part of the expression. */
export function appendExpression(template: string, expression: string): string {
  return `${template.replace(/\{$/, "{{ '{' }}")}{{${expression}}}`;
}

/** Literal text, or an expression that is replaced by its value. */
export type TemplatePart = string | { readonly expression: string };

/** A text as an identifier of expressions; undefined if it has no letters and digits. */
function identifier(text: string): string | undefined {
  const plain = text.normalize("NFKD").replace(/\p{M}/gu, "").replace(/[^A-Za-z0-9]+/g, "_");
  const name = plain.replace(/^_+|_+$/g, "");
  if (name === "") return undefined;
  return /^\d/.test(name) ? `n${name}` : name;
}

/** A name in the form of variables: `petId` becomes `pet_id`. */
export function snakeCase(text: string): string | undefined {
  const spaced = text.replace(/([a-z0-9])([A-Z])/g, "$1_$2").replace(
    /([A-Z])([A-Z][a-z])/g,
    "$1_$2",
  );
  return identifier(spaced)?.toLowerCase();
}

/** A name in the form of environment variables: `PET_ID`. */
export function environmentName(text: string): string {
  return (snakeCase(text) ?? "value").toUpperCase();
}

/** Returns each name once; a name that is taken gets a number. */
export class UniqueNames {
  readonly #taken: Set<string>;

  constructor(taken: Iterable<string> = []) {
    this.#taken = new Set(taken);
  }

  take(name: string): string {
    let free = name;
    for (let number = 2; this.#taken.has(free); number++) free = `${name}_${number}`;
    this.#taken.add(free);
    return free;
  }
}

/** A template that we made. Any other text is data of the input, whatever is written in it. */
export class Template {
  constructor(readonly text: string) {}
}

export type Text = string | Template;

/** Values of a step that is being made. */
export type Data<T extends Text = Text> =
  | null
  | boolean
  | number
  | bigint
  | T
  | readonly Data<T>[]
  | { readonly [key: string]: Data<T> };

/** A text as a workflow has it: one that is not a template of ours is escaped. */
export function writeText(text: Text): string {
  return text instanceof Template ? text.text : literalText(text);
}

/** A value with each of its texts changed. The names of fields are never templates. */
export function mapTexts<T extends Text, R extends Text>(
  value: Data<T>,
  change: (text: T) => R,
): Data<R> {
  if (typeof value === "string" || value instanceof Template) return change(value as T);
  if (Array.isArray(value)) return value.map((one: Data<T>) => mapTexts(one, change));
  if (typeof value !== "object" || value === null) return value as Data<never>;
  return Object.fromEntries(
    Object.entries(value).map(([name, field]) => [name, mapTexts(field, change)]),
  );
}
