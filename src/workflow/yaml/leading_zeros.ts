import type { Path } from "../../source/source.ts";
import type { Document } from "../model.ts";
import { addWarning, type Problem } from "../problem.ts";

const OCTAL = /^[-+]?0[\d_]+$/;

/**
 * Warns of numbers with a leading zero. They are other numbers than one reads there, and were
 * often meant as text, like a zip code.
 */
export async function warnOfLeadingZeros(problems: Problem[], document: Document): Promise<void> {
  const positions = await document.positions();
  const known = new Set<object>();
  const walk = (value: unknown, path: Path) => {
    if (typeof value === "number") {
      const written = positions.text(path)?.text ?? "";
      if (!OCTAL.test(written)) return;
      addWarning(problems, "leading-zero", path, `${written} is read as ${value}`, {
        hint: "put it in quotes for text, or leave out the zero",
      });
    } else if (typeof value === "object" && value !== null && !known.has(value)) {
      known.add(value);
      if (Array.isArray(value)) value.forEach((item, index) => walk(item, [...path, index]));
      else for (const [key, part] of Object.entries(value)) walk(part, [...path, key]);
    }
  };
  walk(document.value, []);
}
