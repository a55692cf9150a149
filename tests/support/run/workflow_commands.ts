/** A workflow command that was executed. */
export interface WorkflowCommand {
  readonly name: string;
  readonly properties: Readonly<Record<string, string>>;
  readonly message: string;
}

/** The commands in a build log, and the lines shown to people. */
export interface BuildLog {
  readonly commands: readonly WorkflowCommand[];
  /** The lines that are not commands, or are in a section with commands switched off. */
  readonly lines: readonly string[];
}

/**
 * Reads a build log as a runner of GitHub Actions does: a command is a line that begins with `::`
 * behind any spaces, or one that has `##[` anywhere, except between `stop-commands` and
 * its token.
 */
export function readBuildLog(log: string): BuildLog {
  const commands: WorkflowCommand[] = [];
  const lines: string[] = [];
  let token: string | undefined;
  for (const line of log.split(/\r?\n/)) {
    const command = readCommand(line);
    if (token !== undefined) {
      if (command?.name === token) token = undefined;
      else lines.push(line);
    } else if (command?.name === "stop-commands") token = command.message;
    else if (command) commands.push(command);
    else lines.push(line);
  }
  return { commands, lines };
}

function readCommand(line: string): WorkflowCommand | undefined {
  const [, name, list = "", message = ""] = /^\s*::([^\s:]+)(?: (.*?))?::(.*)$/s.exec(line) ??
    /##\[([^\s\]]+)(?: (.*?))?\](.*)$/s.exec(line) ?? [];
  if (name === undefined) return undefined;
  const properties = list.split(",").filter((part) => part !== "").map((part) => {
    const end = part.indexOf("=");
    return [part.slice(0, end).trim(), unescapeProperty(part.slice(end + 1))];
  });
  return { name, properties: Object.fromEntries(properties), message: unescapeData(message) };
}

function unescapeData(text: string): string {
  return text.replaceAll("%0D", "\r").replaceAll("%0A", "\n").replaceAll("%25", "%");
}

function unescapeProperty(text: string): string {
  return unescapeData(text.replaceAll("%3A", ":").replaceAll("%2C", ","));
}
