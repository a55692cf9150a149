import type { Check } from "../check.ts";

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
