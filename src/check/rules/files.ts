import type { Path } from "../../base/source.ts";
import type { Check } from "../model.ts";

/** Files that a step sends or reads and that do not exist. */
export const missingFile: Check = {
  codes: [
    {
      code: "missing-file",
      severity: "warning",
      summary:
        "A step sends or reads a file that does not exist, and no other step mentions its name.",
    },
  ],
  *find({ missingFiles }) {
    for (const { path, name } of missingFiles) {
      yield {
        severity: "warning",
        code: "missing-file",
        path,
        message: `the file "${name}" does not exist`,
        hint: "the path is relative to the file that names it",
      };
    }
  },
};

/** Secrets written in the file in plain text. */
export const literalSecret: Check = {
  codes: [
    {
      code: "literal-secret",
      severity: "warning",
      summary: "The file contains a hard-coded secret.",
    },
  ],
  *find({ secrets }) {
    for (const { path, why, range } of secrets) {
      const hint = hintFor(path);
      yield { severity: "warning", code: "literal-secret", path, range, message: why, hint };
    }
  },
};

function hintFor(path: Path): string {
  const key = path.findLast((part) => typeof part === "string") ?? "";
  const variable = /^authorization$/i.test(key) ? "TOKEN" : upperSnake(key);
  if (path[0] === "vars") return `read it from the environment: ${path.at(-1)}: "{{${variable}}}"`;
  return `read it from the environment, in the vars of the workflow: "{{${variable}}}"`;
}

/** `apiKey` as the environment would call it: `API_KEY`. */
function upperSnake(name: string): string {
  const words = name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").split(/[^A-Za-z0-9]+/).filter(Boolean);
  const joined = words.join("_").toUpperCase();
  return /^[A-Z]/.test(joined) ? joined : "SECRET";
}
