import type { RemoteCommand } from "./read_ssh.ts";

/** The command line for the shell of the server, and the input that it reads before the command. */
export interface Script {
  readonly text: string;
  /** Lines at the beginning of its standard input. */
  readonly preamble: string;
}

/**
 * A command with its directory and its variables. Servers ignore most variables that a client sends,
 * so that the shell sets them. It reads them from its input, because every user of the server can
 * see the text of a command; a terminal would show them, so that there they are in the text.
 */
export function scriptOf({ text, workdir, env, hasTerminal }: RemoteCommand): Script {
  const sets = Object.entries(env).map(([name, value]) =>
    value === null ? `unset ${name}` : `${assign(name, value)}; export ${name}`
  ).join("; ");
  const enter = workdir === undefined ? "" : `cd -- ${quotePath(workdir)} || exit\n`;
  if (sets === "") return { text: enter + text, preamble: "" };
  if (hasTerminal) return { text: `${sets}\n${enter}${text}`, preamble: "" };
  const read = 'IFS= read -r RUNNER_ENV && eval "$RUNNER_ENV" && unset RUNNER_ENV\n';
  return { text: read + enter + text, preamble: `${sets}\n` };
}

/** Sets a variable in one line. */
function assign(name: string, value: string): string {
  if (!value.includes("\n")) return `${name}=${quote(value)}`;
  const escaped = value.replaceAll("\\", "\\\\").replaceAll("\n", "\\n");
  // $(…) would drop newlines at the end.
  return `${name}="$(printf '%b.' ${quote(escaped)})"; ${name}="\${${name}%.}"`;
}

/** A path in quotes; `~` at its beginning stays the home directory. */
function quotePath(path: string): string {
  const [, home = "", rest = ""] = /^(~[\w.-]*\/?)?(.*)$/s.exec(path)!;
  return home + (rest === "" && home !== "" ? "" : quote(rest));
}

/** A word for a shell. */
function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
