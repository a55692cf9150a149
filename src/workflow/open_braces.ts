import { holdsTemplates } from "../expr/plain_template.ts";
import type { Path } from "../source/source.ts";
import { addWarning, type Problem } from "./problem.ts";

/** Warns of braces in texts that nothing closes: they are text, and were hardly meant to be. */
export function warnOfOpenBraces(problems: Problem[], value: unknown, path: Path): void {
  if (holdsTemplates(value)) warn(problems, value, path);
}

function warn(problems: Problem[], value: unknown, path: Path): void {
  if (typeof value === "string") {
    const start = value.lastIndexOf("{{");
    if (start < 0 || value.indexOf("}}", start) >= 0) return;
    addWarning(
      problems,
      "open-braces",
      path,
      'these braces have no "}}", and are text as they are',
      {
        range: { start, end: start + 2 },
        hint: "close the template, or write {{ '{{' }} for braces",
      },
    );
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => warn(problems, item, [...path, index]));
  } else if (typeof value === "object" && value !== null) {
    for (const [key, part] of Object.entries(value)) {
      warn(problems, part, [...path, key]);
    }
  }
}
