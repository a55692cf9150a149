import { RunnerError, UsageError } from "../../base/errors.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import type { Files } from "../../host/host.ts";
import type { CommandTable, RunCommand } from "../command.ts";
import { loadDocuments } from "../documents.ts";
import { renderHelp } from "../help.ts";
import { renderHelpPage } from "../render_help_page.ts";
import { pageOf } from "../topics.ts";

/** Prints the usage of the command that is named or of the program, or the page of a topic. */
export function helpCommand(table: CommandTable): RunCommand {
  const { fallback, commands, common } = table;
  return async ({ operands: [word] }, { host }) => {
    const command = commands.find(({ name }) => name === word);
    const page = word === undefined ? undefined : pageOf(word);
    if (word !== undefined && !command && page !== undefined) {
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

/** The page of the documents under a path below docs/, as text. Throws RunnerError. */
async function helpTopic(topic: string, page: string, files: Files): Promise<string> {
  const documents = await loadDocuments();
  const text = documents ? documents[page] : await readPage(page, files);
  if (text === undefined) {
    throw new RunnerError(
      `the page of "${topic}" is not in this build`,
      `the binary of a release has it, and a checkout, as docs/${page}`,
    );
  }
  return renderHelpPage(text);
}

async function readPage(page: string, files: Files): Promise<string | undefined> {
  if (!import.meta.url.startsWith("file:")) return undefined;
  try {
    const path = new URL(`../../../docs/${page}`, import.meta.url);
    return new TextDecoder().decode(await files.read(path));
  } catch {
    return undefined;
  }
}
