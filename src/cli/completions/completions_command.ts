import { checkChoice } from "../command_line.ts";
import type { RunCommand } from "../command.ts";
import { SCRIPTS, type Shell, SHELLS } from "./scripts.ts";

/** Prints the script that makes a shell complete command lines. */
export const completionsCommand: RunCommand = ({ operands: [shell = ""] }, { host }) => {
  checkChoice("<shell>", shell, SHELLS);
  host.stdout.write(SCRIPTS[shell as Shell]);
  return Promise.resolve(0);
};
