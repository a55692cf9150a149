import type { Template } from "./expression.ts";

/** A text that has no expression in it, as a template. */
export function plainTemplate(source: string): Template {
  return { source, parts: [source], render: () => source, renderText: () => source };
}

/** Whether a text may be more than itself: it has the beginning of an expression in it. */
export function holdsTemplate(text: string): boolean {
  return text.includes("{{");
}
