import { literalText } from "../openapi/gen/templates.ts";

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
