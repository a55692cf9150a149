import { isGranted } from "../../host/deno_permissions.ts";

/** A program that runs commands, and how it wants to be given them. */
export interface Interpreter extends Dialect {
  readonly program: string;
}

interface Dialect {
  /** More bytes than this go into a file, because the system limits what an argument may hold. */
  readonly longest: number;
  readonly multiline: boolean;
  /** Whether it can stop at the first failing line. */
  readonly stops?: boolean;
  /** Whether it reads quotes in another way than other programs of Windows. */
  readonly quotesItself: boolean;
  readonly extension: string;
  /** The first bytes of the file. */
  readonly preamble: string;
  /** The arguments that run a command. */
  inline(command: string): string[];
  /** The arguments that run the commands in a file. */
  file(path: string): string[];
}

const OPTIONS = ["-NoProfile", "-NonInteractive"];

const POSIX: Dialect = {
  longest: 120_000, // Linux takes 128 KiB in one argument.
  multiline: true,
  quotesItself: false,
  extension: ".sh",
  preamble: "",
  inline: (command) => ["-c", command],
  file: (path) => [path],
};

const POWERSHELL: Dialect = {
  longest: 24_000, // Windows takes 32,767 characters in all.
  multiline: true,
  quotesItself: false,
  extension: ".ps1",
  preamble: "\ufeff", // Without it, Windows PowerShell does not read UTF-8.
  inline: (command) => [...OPTIONS, "-Command", command],
  file: (path) => [...OPTIONS, "-ExecutionPolicy", "Bypass", "-File", path],
};

const CMD: Dialect = {
  longest: 8000, // cmd.exe takes 8,191 characters in all.
  multiline: false,
  quotesItself: true,
  extension: ".cmd",
  preamble: "@echo off\r\n",
  inline: (command) => ["/d", "/s", "/c", `"${command}"`],
  file: (path) => ["/d", "/s", "/c", `""${path}""`],
};

/** What decides which shell is the default. */
interface System {
  readonly windows: boolean;
  readonly comSpec: string | undefined;
}

function thisSystem(): System {
  const windows = Deno.build.os === "windows";
  const isKnown = windows && isGranted({ name: "env" });
  return { windows, comSpec: isKnown ? Deno.env.get("ComSpec") : undefined };
}

/** The interpreter of that path or name, or the one that the system has by default. */
export function findInterpreter(
  shell: string | undefined,
  system: System = thisSystem(),
): Interpreter {
  const program = shell ?? (system.windows ? system.comSpec ?? "cmd.exe" : "/bin/sh");
  const name = program.split(system.windows ? /[/\\]/ : "/").at(-1)!
    .toLowerCase().replace(/\.exe$/, "");
  if (name === "pwsh" || name === "powershell") return { program, ...POWERSHELL };
  return { program, ...name === "cmd" ? CMD : { ...POSIX, stops: SHELLS.test(name) } };
}

/** The shells that know `set -e`: python3 takes its commands as they do, but is none. */
const SHELLS = /^(?:a|ba|da|k|mk|z)?sh$/;

/**
 * A command of several lines that stops at the first that fails, as scripts of CI services do: also
 * at a failure inside of a pipe, where the shell has `pipefail`.
 */
export function stopAtFailure(command: string): string {
  if (!command.trim().includes("\n")) return command;
  return `set -e; (set -o pipefail) 2>/dev/null && set -o pipefail; ${command}`;
}
