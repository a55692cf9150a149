/**
 * Starts the program by Deno with some permissions instead of all. It is the checkout, or the
 * script or URL that RUNNER_BIN names.
 *
 * @module
 */
import { fromFileUrl } from "@std/path/from-file-url";
import { BUILT, type CliOptions, type CliResult, utf8Locale } from "./run_cli.ts";

const CHECKOUT = fromFileUrl(new URL("../../../", import.meta.url));

/** The words of a command line; `flags` are those of `deno run`. */
export function narrowedCommand(flags: readonly string[], args: readonly string[]): string[] {
  const script = BUILT && /\.[jt]s$/.test(BUILT) ? BUILT : `${CHECKOUT}cli.ts`;
  // The modules of a checkout are read when they are needed, which takes the permission too.
  const read = flags.find((flag) => flag.startsWith("--allow-read="));
  const readFlag = `${read ?? "--allow-read="}${read ? "," : ""}${CHECKOUT}src`;
  if (flags.includes("--allow-all")) return [Deno.execPath(), "run", ...flags, script, ...args];
  const others = flags.filter((flag) => flag !== read);
  return [Deno.execPath(), "run", readFlag, ...others, script, ...args];
}

/** Runs it to its end, without a terminal for prompts. */
export async function runNarrowed(
  flags: readonly string[],
  args: readonly string[],
  { cwd, env }: CliOptions = {},
): Promise<CliResult> {
  const [program, ...rest] = narrowedCommand(flags, args);
  const { code, stdout, stderr } = await new Deno.Command(program!, {
    args: rest,
    ...cwd === undefined ? {} : { cwd },
    env: { ...utf8Locale(env), ...env, DENO_NO_UPDATE_CHECK: "1" },
    stdin: "null",
  }).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: decode(stdout), stderr: decode(stderr) };
}
