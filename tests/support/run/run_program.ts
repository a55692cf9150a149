import { utf8Locale } from "./run_cli.ts";
import { withFiles } from "../temp_dir.ts";

/** The output and exit code of a program. */
export interface ProgramEnd {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** A program that uses the library from its own directory, and the files beside it. */
export interface LibraryProgram {
  readonly program: string;
  readonly files?: Readonly<Record<string, string>>;
  /** Options of `deno run`; all permissions without them. */
  readonly options?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Runs a program in a directory outside of the checkout, whose import map names the library, and
 * passes its result and the directory to `use`.
 */
export async function withProgram<T>(
  { program, files = {}, options = ["-A"], env = {} }: LibraryProgram,
  use: (end: ProgramEnd, directory: string) => T | Promise<T>,
): Promise<T> {
  const imports = {
    "@runner/runner": new URL("../../../mod.ts", import.meta.url).href,
    "support/": new URL("..", import.meta.url).href,
  };
  const all = { ...files, "program.ts": program, "deno.json": JSON.stringify({ imports }) };
  return await withFiles(all, async (directory) => {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "--quiet", ...options, "program.ts"],
      cwd: directory,
      env: { NO_COLOR: "1", ...utf8Locale(env), ...env },
      stdin: "null",
    }).output();
    const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
    return await use({ code, stdout: text(stdout), stderr: text(stderr) }, directory);
  });
}
