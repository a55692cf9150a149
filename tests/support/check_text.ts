import { type CheckedFile, checkFile } from "../../src/check/check_file.ts";
import { excerptOf } from "../../src/base/source.ts";
import { readLimits } from "../../src/workflow/limits.ts";
import { hostWith } from "./load_files.ts";
import { withFiles } from "./temp_dir.ts";

/** Checks one file, called `flow.yml`, which may name others. */
export function checkText(
  text: string,
  others: Readonly<Record<string, string>> = {},
): Promise<CheckedFile> {
  return withFiles({ "flow.yml": text, ...others }, (directory) => {
    const host = hostWith();
    return checkFile(`${directory}/flow.yml`, host, readLimits(host.env));
  });
}

/** Each finding in a line: `4:13 error undefined-var: undefined variable "x"`. */
export async function findIn(
  text: string,
  others: Readonly<Record<string, string>> = {},
): Promise<readonly string[]> {
  const { diagnostics } = await checkText(text, others);
  return diagnostics.map(({ severity, code, message, hint, span }) => {
    const { file, line, column } = excerptOf(span!);
    const name = file.endsWith("/flow.yml") ? "" : `${file.split("/").at(-1)}:`;
    const rest = hint === undefined ? "" : ` (${hint})`;
    return `${name}${line}:${column} ${severity} ${code}: ${message}${rest}`;
  });
}
