import { UsageError } from "../../base/errors.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import type { Command } from "../command.ts";
import { renderHelp } from "../help.ts";
import { pageOf } from "../topics.ts";
import type { CommandTable } from "../args/read_command_line.ts";

/** Prints the usage of the command that is named or of the program, or the page of a topic. */
export function helpCommand(table: CommandTable): Awaited<ReturnType<Command["load"]>> {
  const { fallback, commands, common } = table;
  return async ({ operands: [word] }, { host }) => {
    const command = commands.find(({ name }) => name === word);
    const page = word === undefined ? undefined : pageOf(word);
    if (word !== undefined && !command && page !== undefined) {
      const { helpTopic } = await import("./help_topic.ts");
      host.stdout.write(await helpTopic(word, page, host.files));
      return 0;
    }
    if (word !== undefined && !command) {
      const [operand] = commands.find(({ name }) => name === "help")!.operands;
      throw new UsageError(
        `unknown command or topic "${word}"`,
        didYouMean(word, operand!.choices!) ?? "runner help --help lists them",
      );
    }
    host.stdout.write(renderHelp(command ?? fallback, commands, common));
    return 0;
  };
}
