import { RunnerError, UsageError } from "../../base/errors.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import type { Files } from "../../host/host.ts";
import type { CommandTable, RunCommand } from "../command.ts";
import { loadDocuments } from "./documents.ts";
import { type Layout, layoutOf } from "./layout.ts";
import { renderHelp, renderMachinesHelp } from "./render_help.ts";
import { renderPage } from "./render_page.ts";
import { pageOf } from "./topics.ts";

/** Prints the usage of the command that is named or of the program, or the page of a topic. */
export function helpCommand(table: CommandTable): RunCommand {
  return async ({ operands: [word], switches }, { host }) => {
    const layout = await layoutOf(host, switches.has("no-color"));
    host.stdout.write(await textOf());
    return 0;

    async function textOf(): Promise<string> {
      if (word === undefined) return renderHelp(table.fallback, table, layout);
      if (word === "machines") return renderMachinesHelp(table, layout);
      const command = table.commands.find(({ name }) => name === word);
      if (command) return renderHelp(command, table, layout);
      const page = pageOf(word);
      if (page !== undefined) return await helpTopic(word, page, host.files, layout);
      const [operand] = table.commands.find(({ name }) => name === "help")!.operands;
      throw new UsageError(
        `unknown command or topic "${word}"`,
        didYouMean(word, operand!.choices!) ?? "runner help --help lists them",
      );
    }
  };
}

/** The page of the documents under a path below docs/, as text. Throws RunnerError. */
async function helpTopic(
  topic: string,
  page: string,
  files: Files,
  layout: Layout,
): Promise<string> {
  const documents = await loadDocuments();
  const text = documents ? documents[page] : await readPage(page, files);
  if (text === undefined) {
    throw new RunnerError(
      `the page of "${topic}" is not in this build`,
      `the binary of a release has it, and a checkout, as docs/${page}`,
    );
  }
  return renderPage(text, layout);
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
