import type { Files, Host, Output } from "../host/host.ts";
import { isDirectory } from "../host/walk_directories.ts";
import { UsageError } from "../base/errors.ts";
import { hintForCommand } from "../base/other_tools.ts";
import { didYouMean } from "../base/text/suggest.ts";
import type { Command, ExitCode, Invocation, Program } from "./command.ts";
import { readCommandLine } from "./command_line.ts";
import { DEFAULT_COMMAND } from "./default_command.ts";
import { inLocale } from "./output_mode.ts";
import { COMMAND_TABLE, COMMANDS } from "./registry.ts";

/**
 * The program from its arguments to its exit code.
 *
 * `exit` ends it at once: sockets and timers that a command left open must not keep it alive. Help
 * and the version end by themselves: Deno keeps for the next start what it has compiled, but not
 * where so short a program is ended from inside.
 */
export async function main(
  args: readonly string[],
  host: Host,
  exit: (code: ExitCode) => void,
): Promise<ExitCode> {
  const program: Program = { host, exit, secrets: [] };
  try {
    return await runProgram(args, program);
  } catch (error) {
    const { explainError } = await import("./messages.ts");
    errorOutput(host).write(explainError(error, host, program.secrets));
    await flushSoon(host);
    exit(1);
    return 1;
  }
}

async function runProgram(args: readonly string[], program: Program): Promise<ExitCode> {
  const { host } = program;
  if (args.length === 0) return await printShortUsage(program);
  if (args[0] === "__complete") return await printOffers(args.slice(1), host);
  const { command, invocation } = await readCommandLine(args, COMMAND_TABLE);
  if (invocation.switches.has("help")) return await printHelp(command, args, invocation, host);
  if (invocation.switches.has("version")) return await printVersion(host);
  await checkOperands(command, invocation, host.files);
  const run = await command.load();
  const code = await run(invocation, program);
  await Promise.all([host.stdout.flush(), host.stderr.flush()]);
  program.exit(code);
  return code;
}

/** The output for errors. The environment, which names the locale, may be what cannot be read. */
function errorOutput(host: Host): Output {
  try {
    return inLocale(host).stderr;
  } catch {
    return host.stderr;
  }
}

/** Milliseconds that the reader of an error has to take it. */
const LAST_WRITE = 1000;

/** Waits until an error is written, or its reader is gone. */
async function flushSoon({ clock, stderr }: Host): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const cancel = clock.after(LAST_WRITE, resolve);
  await Promise.race([promise, stderr.flush().catch(() => {})]);
  cancel();
}

/** Prints the most common options for `runner -h`, else all. */
async function printHelp(
  command: Command,
  args: readonly string[],
  { switches }: Invocation,
  host: Host,
): Promise<ExitCode> {
  const { layoutOf } = await import("./help/layout.ts");
  const { renderCommonHelp, renderHelp } = await import("./help/render_help.ts");
  const layout = await layoutOf(host, switches.has("no-color"));
  const isShort = command === DEFAULT_COMMAND && !args.includes("--help");
  const text = isShort
    ? renderCommonHelp(COMMAND_TABLE, layout)
    : renderHelp(command, COMMAND_TABLE, layout);
  host.stdout.write(text);
  await host.stdout.flush();
  return 0;
}

/** Answers a completion script. */
async function printOffers(words: readonly string[], host: Host): Promise<ExitCode> {
  const { complete } = await import("./completions/complete.ts");
  host.stdout.write(await complete(words, COMMAND_TABLE, host));
  await host.stdout.flush();
  return 0;
}

async function printShortUsage({ host, exit }: Program): Promise<ExitCode> {
  const { PLAIN_LAYOUT } = await import("./help/layout.ts");
  const { renderShortUsage } = await import("./help/render_help.ts");
  const missing = "runner: error: <workflow_file> is missing";
  host.stderr.write(`${missing}\n\n${renderShortUsage(DEFAULT_COMMAND, PLAIN_LAYOUT)}`);
  await flushSoon(host);
  exit(1);
  return 1;
}

async function printVersion({ stdout, files }: Host): Promise<ExitCode> {
  const { versionLine } = await import("./version.ts");
  stdout.write(await versionLine(files) + "\n");
  await stdout.flush();
  return 0;
}

async function checkOperands(
  { operands, name }: Command,
  invocation: Invocation,
  files: Files,
): Promise<void> {
  const values = invocation.operands;
  const missing = operands[values.length];
  if (missing && !missing.isOptional) {
    const choices = missing.choices && `one of ${missing.choices.join(", ")}`;
    const hint = takenHint(invocation) ?? choices ?? tryHelp(name);
    throw new UsageError(`<${missing.name}> is missing`, hint);
  }
  const [first = "", second] = values;
  if (name === undefined) await refuseWord(first, second, files);
  const extra = values[operands.length];
  if (extra === undefined || operands.at(-1)?.repeats) return;
  throw new UsageError(`unexpected argument "${extra}"`, tryHelp(name));
}

/** Says that an option took as its value what looks like the operand. */
function takenHint({ values, lists }: Invocation): string | undefined {
  const taken = [...lists, ...[...values].map(([name, value]) => [name, [value]] as const)];
  for (const [option, list] of taken) {
    const file = list.find((value) => /\.(?:ya?ml|json)$/i.test(value));
    if (file !== undefined) {
      return `option --${option} took "${file}" as its value: write the file first`;
    }
  }
  return undefined;
}

/** Refuses an operand that looks like a command and is not a file. */
async function refuseWord(first: string, second: string | undefined, files: Files): Promise<void> {
  if (!/^[\w-]+$/.test(first) || await files.isFile(first).catch(() => true)) return;
  const otherTool = hintForCommand(first, second);
  // A directory is a suite, unless it has the name of a command of another tool.
  const mayBeSuite = second === undefined || otherTool === undefined;
  if (mayBeSuite && await isDirectory(first, files)) return;
  const hint = otherTool ?? didYouMean(first, COMMANDS.map(({ name = "" }) => name));
  if (hint === undefined && second === undefined) return;
  throw new UsageError(`unknown command "${first}"`, hint);
}

function tryHelp(name: string | undefined): string {
  return `try runner ${name === undefined ? "" : `${name} `}--help`;
}
