import type { Files, Host } from "../host/host.ts";
import { UsageError } from "../source/errors.ts";
import { didYouMean } from "../source/suggest.ts";
import type { Command, ExitCode, Program } from "./command.ts";
import { readCommandLine } from "./args/read_command_line.ts";
import { COMMANDS, COMMON_OPTIONS, DEFAULT_COMMAND } from "./registry.ts";

/**
 * The program from its arguments to its exit code.
 *
 * `leave` ends it at once: sockets and timers that a command left open must not keep it alive. Help
 * and the version end by themselves: Deno keeps for the next start what it has compiled, but not
 * where so short a program is ended from inside.
 */
export async function main(
  args: readonly string[],
  host: Host,
  leave: (code: ExitCode) => void,
): Promise<ExitCode> {
  const program: Program = { host, leave, secrets: [] };
  try {
    return await runProgram(args, program);
  } catch (error) {
    const { explainError } = await import("./messages/explain_error.ts");
    host.stderr.write(explainError(error, host, program.secrets));
    leave(1);
    return 1;
  }
}

async function runProgram(args: readonly string[], program: Program): Promise<ExitCode> {
  const { host } = program;
  // Alone on the line these need no parser, and are asked for by scripts that wait.
  if (args.length === 1 && args[0] === "--help") return await printHelp(DEFAULT_COMMAND, host);
  if (args.length === 1 && args[0] === "--version") return await printVersion(host);
  const { command, invocation } = await readCommandLine(args, {
    fallback: DEFAULT_COMMAND,
    commands: COMMANDS,
    common: COMMON_OPTIONS,
  });
  if (invocation.switches.has("help")) return await printHelp(command, host);
  if (invocation.switches.has("version")) return await printVersion(host);
  await checkOperands(command, invocation.operands, host.files);
  const run = await command.load();
  const code = await run(invocation, program);
  program.leave(code);
  return code;
}

async function printHelp(command: Command, { stdout }: Host): Promise<ExitCode> {
  const { renderHelp } = await import("./help.ts");
  stdout.write(renderHelp(command, COMMANDS, COMMON_OPTIONS));
  return 0;
}

async function printVersion({ stdout, files }: Host): Promise<ExitCode> {
  const { versionLine } = await import("./version.ts");
  stdout.write(await versionLine(files) + "\n");
  return 0;
}

async function checkOperands(
  { operands, name }: Command,
  given: readonly string[],
  files: Files,
): Promise<void> {
  const missing = operands[given.length];
  if (missing && !missing.isOptional) {
    throw new UsageError(`<${missing.name}> is missing`, tryHelp(name));
  }
  const extra = given[operands.length];
  if (extra === undefined || operands.at(-1)?.repeats) return;
  const [first = ""] = given;
  if (name === undefined && await isWord(first, files)) {
    const words = COMMANDS.flatMap((command) => command.name ?? []);
    const { commandElsewhere } = await import("./args/other_tools.ts");
    const hint = commandElsewhere(first, extra) ?? didYouMean(first, words);
    throw new UsageError(`there is no command "${first}"`, hint);
  }
  const hint = "a run takes one workflow: call runner once for each; " +
    "files joined by commas (a.yml,b.yml) are read as one";
  throw new UsageError(`unexpected argument "${extra}"`, name === undefined ? hint : tryHelp(name));
}

/** Whether it looks like the name of a command, and cannot be a file. */
async function isWord(text: string, files: Files): Promise<boolean> {
  if (!/^[\w-]+$/.test(text)) return false;
  try {
    await files.read(text);
    return false;
  } catch (error) {
    // A folder may well be called as other tools call their commands.
    return error instanceof Error && /^(?:NotFound|IsADirectory)$/.test(error.name);
  }
}

function tryHelp(name: string | undefined): string {
  return `try runner ${name === undefined ? "" : `${name} `}--help`;
}
