/**
 * Starts the real program. RUNNER_BIN names another build of it to test: a program, or a script
 * or URL that Deno runs; a path is relative to where the tests were started. RUNNER_BIN_ENV
 * has variables for it alone, as a JSON object.
 *
 * @module
 */
import { fromFileUrl } from "@std/path/from-file-url";
import { resolve } from "@std/path/resolve";

const CHECKOUT = fromFileUrl(new URL("../../../", import.meta.url));

/** The build that RUNNER_BIN names. Resolved at once, since a test may change the directory. */
export const BUILT = pathOrUrl(Deno.env.get("RUNNER_BIN"));

export interface CliOptions {
  readonly cwd?: string;
  /** Variables besides those that a program needs to start at all. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface CliResult {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the program to its end. */
export async function runCli(
  args: readonly string[],
  options: CliOptions = {},
): Promise<CliResult> {
  const child = startCli(args, options);
  const [status, stdout, stderr] = await Promise.all([
    child.status,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ]);
  return { code: status.code, stdout, stderr: BUILT ? withoutWarning(stderr) : stderr };
}

/** Of packages that the one file fetches, Deno says once that it does not run their scripts. */
function withoutWarning(stderr: string): string {
  const end = stderr.indexOf("╰");
  const box = stderr.slice(0, end < 0 ? 0 : stderr.indexOf("\n", end) + 1);
  return box.includes("Ignored build scripts") ? stderr.slice(box.length) : stderr;
}

/** Starts the program; the caller reads its output. */
export function startCli(args: readonly string[], options: CliOptions = {}): Deno.ChildProcess {
  const [program, before] = theProgram();
  return new Deno.Command(program, {
    args: [...before, ...args],
    clearEnv: true,
    env: programEnv(options.env),
    stdin: "null",
    stdout: "piped",
    stderr: "piped",
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  }).spawn();
}

/** The command, and the arguments before those of a test. */
export function theProgram(): [program: string, args: string[]] {
  if (!BUILT) return [Deno.execPath(), ["run", "-A", "--no-prompt", `${CHECKOUT}cli.ts`]];
  if (!/\.[jt]s$/.test(BUILT)) return [BUILT, []];
  return [Deno.execPath(), ["run", "-A", "--no-prompt", "--no-config", BUILT]];
}

function pathOrUrl(bin: string | undefined): string | undefined {
  return !bin || /^https?:/.test(bin) ? bin : resolve(bin);
}

/**
 * The variables of a program under test: those of the test, what the program needs of those of the
 * test run, and a UTF-8 locale unless the test names one.
 */
export function programEnv(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  const ofBuild = JSON.parse(Deno.env.get("RUNNER_BIN_ENV") ?? "{}");
  return { ...inherited(), ...withoutCache(), ...ofBuild, ...utf8Locale(env), ...env };
}

/** A program under test keeps nothing in the cache of the user, where Deno has what it needs. */
function withoutCache(): Record<string, string> {
  const home = Deno.env.get("HOME");
  if (Deno.build.os !== "linux" || home === undefined) return {};
  const cache = Deno.env.get("XDG_CACHE_HOME") || `${home}/.cache`;
  return { DENO_DIR: Deno.env.get("DENO_DIR") ?? `${cache}/deno`, XDG_CACHE_HOME: "/dev/null" };
}

/** A UTF-8 locale for a program, unless its variables name a locale. */
export function utf8Locale(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  const isNamed = ["LC_ALL", "LC_CTYPE", "LANG"].some((name) => name in env);
  return isNamed ? {} : { LC_ALL: "C.UTF-8" };
}

/** The variables of the test run that a program under test gets too. */
function inherited(): Record<string, string> {
  const names = ["PATH", "HOME", "TMPDIR", "DENO_DIR", "XDG_CACHE_HOME", "SystemRoot", "ComSpec"]
    // Deno needs these to reach the registry for packages of a build.
    .concat("NODE_EXTRA_CA_CERTS", "DENO_CERT", "DENO_TLS_CA_STORE", "NPM_CONFIG_REGISTRY")
    .concat("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY");
  return Object.fromEntries(names.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
}
