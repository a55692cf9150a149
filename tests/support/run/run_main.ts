import { main } from "../../../src/cli/main.ts";
import { denoHost } from "../../../src/host/deno_host.ts";
import type { Files, Host, Output } from "../../../src/host/host.ts";
import { BUILT, type CliOptions, type CliResult, programEnv, runCli } from "./run_cli.ts";

/**
 * Runs the program in the process of the test, or starts the build of it that RUNNER_BIN names.
 * Tests of what a process has (its environment for the commands it starts, signals, memory, a
 * terminal) use `runCli`.
 */
export async function runMain(
  args: readonly string[],
  options: CliOptions = {},
  host: Partial<Host> = {},
): Promise<CliResult> {
  return BUILT !== undefined ? await runCli(args, options) : await runHere(args, options, host);
}

/**
 * Runs the program in the process of the test: its arguments, its files and its outputs are real
 * ones, its environment is that of `runCli`, and its current directory is `cwd`.
 */
export async function runHere(
  args: readonly string[],
  options: CliOptions,
  host: Partial<Host> = {},
  exit: (code: number) => void = () => {},
): Promise<CliResult> {
  const { cwd = Deno.cwd() } = options;
  // A program in the process of a test keeps nothing in the cache of the user.
  const env: Record<string, string> = {
    ...programEnv(options.env),
    XDG_CACHE_HOME: "/dev/null",
    ...options.env,
  };
  const [stdout, stderr] = [new Collected(), new Collected()];
  const real = denoHost();
  const code = await main(args, {
    ...real,
    env: {
      get: (name) => env[name],
      all: () => ({ ...env }),
      remove: (name) => void delete env[name],
    },
    files: filesIn(cwd, real.files),
    signals: { listen: () => () => {} },
    stdout,
    stderr,
    ...host,
  }, exit);
  return { code, stdout: stdout.text, stderr: stderr.text };
}

/** An output that keeps what is written to it. */
export class Collected implements Output {
  readonly isTerminal: boolean = false;
  text = "";
  columns = () => 80;
  rows = () => 24;
  onClosed = () => {};
  flush = () => Promise.resolve(true);
  write(text: string): boolean {
    this.text += text;
    return true;
  }
}

/** Files whose relative paths begin at a directory. */
function filesIn(cwd: string, files: Files): Files {
  const at = (path: string) => path.startsWith("/") || /^\w:/.test(path) ? path : `${cwd}/${path}`;
  return {
    read: (path) => files.read(typeof path === "string" ? at(path) : path),
    stream: (path) => files.stream(at(path)),
    list: (path) => files.list(at(path)),
    entries: (path) => files.entries(at(path)),
    isFile: (path) => files.isFile(at(path)),
    realPath: (path) => files.realPath(at(path)),
    planReading: (paths) => files.planReading(paths.map(at)),
    isInput: (path) => files.isInput(at(path)),
    wasRead: (path) => files.wasRead(at(path)),
    addWritten: (path) => files.addWritten(at(path)),
    stage: (path, mode) => files.stage(at(path), mode),
    lock: (path) => files.lock(at(path)),
    remove: (path) => files.remove(at(path)),
    grow: (path) => files.grow(at(path)),
    append: (path) => files.append(at(path)),
    watch: (directories, onChange) => files.watch(directories.map(at), onChange),
    workingDirectory: () => cwd,
  };
}
