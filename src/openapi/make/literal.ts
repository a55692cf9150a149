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
    if (typeof part === "string") {
      template += literalText(part);
    } else {
      // A brace before an expression would become part of it.
      if (template.endsWith("{")) template = `${template.slice(0, -1)}{{ '{' }}`;
      template += `{{${part.expression}}}`;
    }
  }
  return template;
}

/** Literal text, or an expression that is replaced by its value. */
export type TemplatePart = string | { readonly expression: string };
