import { SPLIT_ENTRY } from "../bundle/make_bundles.ts";
import type { Target } from "./targets.ts";

/**
 * Makes the binary for a system of the chunks in `split`. Gives what went wrong, or nothing.
 * `base` is a program to put them into; without it Deno fetches its own for the system.
 */
export async function compileTarget(
  { triple }: Target,
  split: string,
  output: string,
  base?: string,
): Promise<string | undefined> {
  const { success, stderr } = await new Deno.Command(Deno.execPath(), {
    args: [
      "compile",
      // Deno does not see which chunks are loaded later.
      ...["--include", split],
      ...["--quiet", "--no-config", "--no-lock", "--no-check", "--no-npm", "--no-remote"],
      ...["--allow-all", "--no-prompt", "--app-name", "runner"],
      ...["--target", triple, "--output", output],
      `${split}/${SPLIT_ENTRY}`,
    ],
    env: { NO_COLOR: "1", ...(base === undefined ? {} : { DENORT_BIN: base }) },
    stdin: "null",
    stdout: "null",
    stderr: "piped",
  }).output();
  return success ? undefined : reasonOf(new TextDecoder().decode(stderr));
}

/** Gives the files of a directory one time, because it goes into the binary with them. */
export async function forgetTimes(split: string): Promise<void> {
  for await (const { name } of Deno.readDir(split)) await Deno.utime(`${split}/${name}`, 0, 0);
}

/** Deno's error message without its internal location. */
function reasonOf(text: string): string {
  const causes = text.split("\n\nStack backtrace:", 1)[0]!.split("\n").map((line) => line.trim());
  const numbered = causes.filter((line) => /^\d+: /.test(line)).map((line) => line.slice(3));
  const download = numbered.find((line) => line.includes("https://"));
  return download ?? numbered.at(-1) ?? causes.filter((line) => line !== "").join(": ");
}
