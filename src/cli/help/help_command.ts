import { RunnerError, UsageError } from "../../base/errors.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import type { CommandTable, Invocation, Program, RunCommand } from "../command.ts";
import { inLocale } from "../output_mode.ts";
import { loadDocuments } from "./documents.ts";
import { explainedWords, explainWord } from "./explain_word.ts";
import { cutLine, type Layout, layoutOf, section, termLines, wrap } from "./layout.ts";
import { findPages, type Hit, listPages, type Page, searchPages, SECTIONS } from "./pages.ts";
import { renderHelp, renderMachinesHelp } from "./render_help.ts";
import { renderPage } from "./render_page.ts";

/** Explains a command, a page, an option or another word, or lists the pages that mention it. */
export function helpCommand(table: CommandTable): RunCommand {
  return async ({ operands, switches }: Invocation, { host }: Program) => {
    const layout = await layoutOf(host, switches.has("no-color"));
    const loadPages = async () => listPages(await loadDocuments(host.files));
    // A key may be copied with its colon.
    const word = operands.filter((one) => one !== "--").join(" ").trim().replace(/:$/, "");
    const lines = word === ""
      ? listTopics(await loadPages(), layout)
      : await explain(word, table, layout, loadPages);
    inLocale(host).stdout.write(lines.join("\n").trimEnd() + "\n");
    return 0;
  };
}

/** The lines about a word. Throws UsageError. */
async function explain(
  word: string,
  table: CommandTable,
  layout: Layout,
  loadPages: () => Promise<readonly Page[]>,
): Promise<readonly string[]> {
  const command = table.commands.find(({ name }) => name === word);
  if (command) return [renderHelp(command, table, layout)];
  if (word === "machines") return [renderMachinesHelp(table, layout)];
  const explanations = await explainWord(word, table);
  const pages = await loadPages().catch((error) => {
    // The tables are enough.
    if (error instanceof RunnerError && explanations.length > 0) return [];
    throw error;
  });
  const { named, meant } = findPages(pages, word);
  const [page, ...others] = explanations.length === 0 || named.length > 0
    ? [...named, ...meant]
    : [undefined, ...meant];
  if (page || explanations.length > 0) {
    const also = [
      ...others.flatMap((one) => one?.name ?? []),
      ...explanations.flatMap(({ page }) => page ?? []),
    ];
    return [
      ...page ? [renderPage(page.text, layout)] : [],
      ...explanations.flatMap(({ title, rows }, index) => [
        ...index === 0 && !page ? [] : [""],
        layout.bold(`${title}:`),
        ...termLines(rows, layout.width),
      ]),
      ...also.length === 0 ? [] : ["", ...wrap(seeAlso(also), layout.width)],
    ];
  }
  if (SECTIONS.includes(word)) return listSection(word, pages, layout);
  const hits = searchPages(pages, word);
  if (hits.length > 0) return listHits(word, hits, layout);
  const names = [
    ...pages.map(({ name }) => name),
    ...table.commands.flatMap(({ name }) => name ?? []),
    ...explainedWords(table),
  ];
  throw new UsageError(
    `nothing is named "${word}", and no page mentions it`,
    didYouMean(word, names) ?? "runner help lists the pages",
  );
}

function seeAlso(names: readonly string[]): string {
  return `See also: ${[...new Set(names)].map((name) => `runner help ${name}`).join(", ")}`;
}

/** Everything that `runner help` explains by name. */
function listTopics(pages: readonly Page[], layout: Layout): string[] {
  const isAction = ({ path }: Page) => path.startsWith("reference/actions/");
  const names = (those: readonly Page[]) => those.map(({ name }) => name).join(", ");
  return [
    `${layout.bold("Usage:")} runner help <word>...`,
    "",
    ...wrap(
      "Explains a command, option, action, function, key, variable or page by its name, and for " +
        "any other word lists the pages that mention it: runner help rate limit",
      layout.width,
    ),
    ...section("Pages", [
      ...SECTIONS.map((title) =>
        [
          title,
          names(pages.filter((page) => page.path.startsWith(`${title}/`) && !isAction(page))),
        ] as const
      ),
      ["actions", names(pages.filter(isAction))],
    ], layout),
    ...section("Commands", [
      ["runner -h", "Print what is used most"],
      ["runner --help", "Print all options, commands and variables"],
      ["runner help machines", "Print those for runs on several machines"],
      ["runner actions", "List what steps can do"],
    ], layout),
  ];
}

function listSection(title: string, pages: readonly Page[], layout: Layout): string[] {
  const rows = pages.filter(({ path }) => path.startsWith(`${title}/`))
    .map(({ name, title }) => [`runner help ${name}`, title] as const);
  return section(`Pages of ${title}`, rows, layout).slice(1);
}

function listHits(word: string, hits: readonly Hit[], layout: Layout): string[] {
  return [
    `Nothing is named "${word}". These pages mention it:`,
    ...hits.flatMap(({ page, line }) => [
      "",
      `  ${layout.bold(`runner help ${page.name}`)}  ${page.title}`,
      ...line === "" ? [] : [`      ${cutLine(line, layout.width - 6)}`],
    ]),
  ];
}
