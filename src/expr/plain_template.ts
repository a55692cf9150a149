import type { Template } from "./expression.ts";

/** A text that has no expression in it, as a template. */
export function plainTemplate(source: string): Template {
  return { source, parts: [source], render: () => source, renderText: () => source };
}

/** Whether a text may be more than itself: it has the beginning of an expression in it. */
export function holdsTemplate(text: string): boolean {
  return text.includes("{{");
}

/** Whether a value is known only once its templates are rendered. */
export function isTemplate(value: unknown): boolean {
  return typeof value === "string" && holdsTemplate(value);
}

/** Whether any text in plain data may be more than itself. Nearly all data is found to be plain. */
export function holdsTemplates(value: unknown): boolean {
  if (typeof value === "string") return holdsTemplate(value);
  if (typeof value !== "object" || value === null) return false;
  if (Array.isArray(value)) return value.some(holdsTemplates);
  return Object.values(value).some(holdsTemplates);
}
