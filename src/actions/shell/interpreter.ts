/** A program that runs commands, and how it wants to be given them. */
export interface Interpreter {
  readonly program: string;
  readonly dialect: Dialect;
}

type Dialect = "posix" | "powershell" | "cmd";

interface Manner {
  /** More bytes than this go into a file, because the system limits what an argument may hold. */
  readonly longest: number;
  readonly multiline: boolean;
  readonly extension: string;
  /** The first bytes of the file. */
  readonly preamble: string;
  inline(command: string): readonly string[];
  file(path: string): readonly string[];
}

const POWERSHELL = ["-NoProfile", "-NonInteractive"];

const MANNERS: Readonly<Record<Dialect, Manner>> = {
  posix: {
    longest: 120_000, // Linux takes 128 KiB in one argument.
    multiline: true,
    extension: ".sh",
    preamble: "",
    inline: (command) => ["-c", command],
    file: (path) => [path],
  },
  powershell: {
    longest: 24_000, // Windows takes 32,767 characters in all.
    multiline: true,
    extension: ".ps1",
    preamble: "\ufeff", // Without it, Windows PowerShell does not read UTF-8.
    inline: (command) => [...POWERSHELL, "-Command", command],
    file: (path) => [...POWERSHELL, "-ExecutionPolicy", "Bypass", "-File", path],
  },
  cmd: {
    longest: 8000, // cmd.exe takes 8,191 characters in all.
    multiline: false,
    extension: ".cmd",
    preamble: "@echo off\r\n",
    inline: (command) => ["/d", "/s", "/c", `"${command}"`],
    file: (path) => ["/d", "/s", "/c", `""${path}""`],
  },
};

/** The interpreter of that path or name, or the one that the system has by default. */
export function findInterpreter(
  shell: string | undefined,
  system: { readonly windows: boolean; readonly comSpec: string | undefined },
): Interpreter {
  const program = shell ?? (system.windows ? system.comSpec ?? "cmd.exe" : "/bin/sh");
  const name = program.split(system.windows ? /[/\\]/ : "/").at(-1)!
    .toLowerCase().replace(/\.exe$/, "");
  if (name === "pwsh" || name === "powershell") return { program, dialect: "powershell" };
  return { program, dialect: name === "cmd" ? "cmd" : "posix" };
}

/** Whether a command has to be given in a file. */
export function needsFile({ dialect }: Interpreter, command: string): boolean {
  const { longest, multiline } = MANNERS[dialect];
  // No character of UTF-16 takes more than three bytes of UTF-8.
  return !multiline && command.includes("\n") || command.length * 3 > longest;
}

/** The arguments that run a command. */
export function inlineArguments({ dialect }: Interpreter, command: string): string[] {
  return [...MANNERS[dialect].inline(command)];
}

/** The arguments that run the commands in a file. */
export function fileArguments({ dialect }: Interpreter, path: string): string[] {
  return [...MANNERS[dialect].file(path)];
}

/** A command as a file for the interpreter, and how the name of the file must end. */
export function commandFile(
  { dialect }: Interpreter,
  command: string,
): { readonly text: string; readonly extension: string } {
  const { preamble, extension } = MANNERS[dialect];
  return { text: preamble + command, extension };
}
