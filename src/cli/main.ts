import type { Host } from "../host/host.ts";
import { UsageError } from "../source/errors.ts";
import { didYouMean } from "../source/suggest.ts";
import type { Command, ExitCode, Program } from "./command.ts";
import { COMMANDS, COMMON_OPTIONS, DEFAULT_COMMAND } from "./registry.ts";

/** The program from its arguments to its exit code. `leave` ends it at once. */
export async function main(
  args: readonly string[],
  host: Host,
  leave: (code: ExitCode) => void,
): Promise<ExitCode> {
  try {
    return await runProgram(args, { host, leave });
  } catch (error) {
    const { explainError } = await import("./explain_error.ts");
    host.stderr.write(explainError(error, host));
    return 1;
  }
}

async function runProgram(args: readonly string[], program: Program): Promise<ExitCode> {
  const { host } = program;
  // Alone on the line these need no parser, and are asked for by scripts that wait.
  if (args.length === 1 && args[0] === "--help") return await printHelp(DEFAULT_COMMAND, host);
  if (args.length === 1 && args[0] === "--version") return await printVersion(host);
  const { parseFlags } = await import("./parse_flags.ts");
  const named = COMMANDS.find(({ name }) => name === args.find((word) => !word.startsWith("-")));
  const command = named ?? DEFAULT_COMMAND;
  const parsed = parseFlags(args, [...command.options, ...COMMON_OPTIONS]);
  const invocation = named ? { ...parsed, operands: parsed.operands.slice(1) } : parsed;
  if (invocation.switches.has("help")) return await printHelp(command, host);
  if (invocation.switches.has("version")) return await printVersion(host);
  checkOperands(command, invocation.operands);
  const run = await command.load();
  return await run(invocation, program);
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

function checkOperands({ operands, name }: Command, given: readonly string[]): void {
  const missing = operands[given.length];
  if (missing) throw new UsageError(`<${missing.name}> is missing`, tryHelp(name));
  const extra = given[operands.length];
  if (extra === undefined) return;
  const words = COMMANDS.flatMap((command) => command.name ?? []);
  throw new UsageError(
    `unexpected argument "${extra}"`,
    didYouMean(given[0] ?? "", words) ?? "several workflow files are joined by commas: a.yml,b.yml",
  );
}

function tryHelp(name: string | undefined): string {
  return `try runner ${name === undefined ? "" : `${name} `}--help`;
}
