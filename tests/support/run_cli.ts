/**
 * Starts the real program. RUNNER_BIN names another build of it to test: a program, or a script
 * or URL that Deno runs; a path is relative to where the tests were started. RUNNER_BIN_ENV
 * has variables for it alone, as a JSON object.
 *
 * @module
 */
import { fromFileUrl } from "@std/path/from-file-url";
import { resolve } from "@std/path/resolve";

const CHECKOUT = fromFileUrl(new URL("../../", import.meta.url));

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
  return { code: status.code, stdout, stderr };
}

/** Starts the program; the caller reads its output. */
export function startCli(args: readonly string[], options: CliOptions = {}): Deno.ChildProcess {
  const [program, before] = theProgram();
  return new Deno.Command(program, {
    args: [...before, ...args],
    clearEnv: true,
    env: { ...inherited(), ...options.env },
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

/** The variables of the test run that a program under test gets too. */
export function inherited(): Record<string, string> {
  const names = ["PATH", "HOME", "TMPDIR", "DENO_DIR", "XDG_CACHE_HOME", "SystemRoot", "ComSpec"]
    .concat("LANG", "LC_ALL")
    // Deno needs these to reach the registry for packages of a build.
    .concat("NODE_EXTRA_CA_CERTS", "DENO_CERT", "DENO_TLS_CA_STORE", "NPM_CONFIG_REGISTRY")
    .concat("HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY");
  const found = Object.fromEntries(names.flatMap((name) => {
    const value = Deno.env.get(name);
    return value === undefined ? [] : [[name, value]];
  }));
  return { ...found, ...JSON.parse(Deno.env.get("RUNNER_BIN_ENV") ?? "{}") };
}
