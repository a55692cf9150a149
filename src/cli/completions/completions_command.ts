import { checkChoice } from "../command_line.ts";
import type { CommandTable, RunCommand } from "../command.ts";
import { renderBash } from "./bash.ts";
import { renderFish } from "./fish.ts";
import { renderNushell } from "./nushell.ts";
import { renderPowershell } from "./powershell.ts";
import { renderZsh } from "./zsh.ts";

const RENDERERS: Readonly<Record<string, (table: CommandTable) => string>> = {
  bash: renderBash,
  zsh: renderZsh,
  fish: renderFish,
  powershell: renderPowershell,
  nushell: renderNushell,
};

/** Prints the script that makes a shell complete the command lines of a table. */
export function completionsCommand(table: CommandTable): RunCommand {
  return ({ operands }, { host }) => {
    const [shell = ""] = operands;
    checkChoice("<shell>", shell, Object.keys(RENDERERS));
    host.stdout.write(RENDERERS[shell]!(table));
    return Promise.resolve(0);
  };
}
