import { parse } from "acorn";
import { nodesOf } from "./walk.ts";

/**
 * Writes what is not ASCII in a module as escapes: one such character, and V8 takes twice the
 * memory. Throws where a tagged template would tell the difference.
 */
export function escapeOthers(code: string): string {
  const other = /[\u0080-\uffff]/;
  if (!other.test(code)) return code;
  for (const node of nodesOf(parse(code, { ecmaVersion: "latest", sourceType: "module" }))) {
    if (node.type !== "TaggedTemplateExpression") continue;
    const text = node.quasi.quasis.map(({ value }) => value.raw).join("");
    if (other.test(text)) throw new Error(`a tagged template is not ASCII: ${text}`);
  }
  return code.replace(new RegExp(other, "g"), (unit) => {
    const digits = unit.charCodeAt(0).toString(16).padStart(4, "0");
    return `\\u${digits}`;
  });
}
