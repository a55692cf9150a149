import { isDict } from "../../base/value/value.ts";
import type { Host } from "../../host/host.ts";
import { parseDocument, readFiles } from "../../workflow/read_files.ts";
import type { CommandTable, OfferedKind } from "../command.ts";
import { loadDocuments } from "../help/documents.ts";
import { listPages } from "../help/pages.ts";

type Offer = readonly [value: string, about: string];

/** What an option or operand may be, from the words of the line before it. */
export function findValues(
  kind: OfferedKind,
  words: readonly string[],
  table: CommandTable,
  host: Host,
): Promise<readonly Offer[]> {
  return OFFERS[kind](words, host, table);
}

const OFFERS: {
  readonly [K in OfferedKind]: (
    words: readonly string[],
    host: Host,
    table: CommandTable,
  ) => Promise<readonly Offer[]>;
} = { topics, jobs, tags, vars };

async function topics(
  _: readonly string[],
  { files }: Host,
  { commands }: CommandTable,
): Promise<readonly Offer[]> {
  const pages = listPages(await loadDocuments(files).catch(() => ({})));
  return [
    ...pages.map(({ name, title }) => [name, title] as const),
    ["machines", "Commands and options for runs on several machines"],
    ...commands.map(({ name = "", summary }) => [name, summary] as const),
  ];
}

/** The jobs by their ids, or by their names where they have none. */
async function jobs(words: readonly string[], host: Host): Promise<readonly Offer[]> {
  return (await readWorkflows(words, host)).flatMap(jobsOf).map(({ id, name }) =>
    typeof id === "string" ? [id, String(name ?? "")] : [String(name ?? ""), ""]
  );
}

async function tags(words: readonly string[], host: Host): Promise<readonly Offer[]> {
  const all = await readWorkflows(words, host);
  return all.flatMap((workflow) => [workflow, ...jobsOf(workflow)])
    .flatMap(({ tags }) => Array.isArray(tags) ? tags : []).map((tag) => [String(tag), ""]);
}

async function vars(words: readonly string[], host: Host): Promise<readonly Offer[]> {
  const all = await readWorkflows(words, host);
  return all.flatMap(({ vars }) => isDict(vars) ? Object.keys(vars) : [])
    .map((name) => [`${name}=`, ""]);
}

type Draft = Readonly<Record<string, unknown>>;

function jobsOf({ jobs }: Draft): readonly Draft[] {
  return Array.isArray(jobs) ? jobs.filter(isDict) : [];
}

/** The workflows that a line names, without a check whether they are valid. */
async function readWorkflows(words: readonly string[], host: Host): Promise<readonly Draft[]> {
  const named = words.filter((word) => /\.(?:ya?ml|json)$/i.test(word));
  const read = async (word: string) => parseDocument(await readFiles(word, host)).value;
  const all = await Promise.all(named.map((word) => read(word).catch(() => undefined)));
  return all.filter(isDict);
}
