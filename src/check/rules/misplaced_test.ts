import { isRawMap } from "../../workflow/decode/decode_value.ts";
import type { Path } from "../../base/source.ts";
import type { Check } from "../check.ts";

/** Tests that are written where they are data. */
export const misplacedTest: Check = {
  codes: [
    {
      code: "misplaced-test",
      severity: "warning",
      summary: "A `test` is not a key of its step, and is never evaluated.",
    },
  ],
  *find({ document: { value }, jobs }) {
    const places: [where: string, path: Path, raw: unknown][] = [["at the top level", [], value]];
    for (const { draft: { path }, steps } of jobs) {
      const job = path.reduce<unknown>(
        (raw, key) =>
          isRawMap(raw) || Array.isArray(raw) ? (raw as Record<string, unknown>)[key] : undefined,
        value,
      );
      if (path.length > 0) places.push(["of a job", path, job]);
      const defaults = isRawMap(job) ? job.defaults : undefined;
      places.push(["in defaults", [...path, "defaults"], defaults]);
      for (const [action, raw] of Object.entries(isRawMap(defaults) ? defaults : {})) {
        places.push(["in defaults", [...path, "defaults", action], raw]);
      }
      for (const { raw, draft: { path } } of steps) {
        if (raw.test !== undefined) continue;
        for (const key of ["with", "outputs", "vars"]) {
          places.push([`in ${key}`, [...path, key], raw[key]]);
        }
        const entries = Array.isArray(raw.iteration) ? raw.iteration : [];
        for (const [index, entry] of entries.entries()) {
          places.push(["in iteration", [...path, "iteration", index], entry]);
        }
      }
    }
    for (const [where, path, raw] of places) {
      if (!isRawMap(raw) || !looksLikeTest(raw.test)) continue;
      yield {
        severity: "warning",
        code: "misplaced-test",
        path: [...path, "test"],
        part: "key",
        message: `"test" ${where} is not evaluated`,
        hint: "make it a key of the step, beside uses",
      };
    }
  },
};

function looksLikeTest(value: unknown): boolean {
  if (Array.isArray(value)) return value.some(looksLikeTest);
  return typeof value === "string" && READS_RESULT.test(value);
}

/** The form of a test; anything else may be data under the same name. */
const READS_RESULT = /(^|[^\w.])(res|status|rt|outputs)\b(?!:)/;
