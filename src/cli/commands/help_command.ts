import { checkChoice } from "../args/parse_flags.ts";
import type { Command } from "../command.ts";
import { renderHelp } from "../help.ts";
import type { CommandTable } from "../args/read_command_line.ts";

/** Prints the usage of the command that is named, or of the program. */
export function helpCommand(table: CommandTable): Awaited<ReturnType<Command["load"]>> {
  const { fallback, commands, common } = table;
  return ({ operands: [word] }, { host }) => {
    if (word !== undefined) {
      checkChoice("<command>", word, commands.flatMap(({ name }) => name ?? []));
    }
    const command = commands.find(({ name }) => name === word) ?? fallback;
    host.stdout.write(renderHelp(command, commands, common));
    return Promise.resolve(0);
  };
}
