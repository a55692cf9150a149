import SYNONYMS from "./synonyms.json" with { type: "json" };
import type { Documents } from "./documents.ts";

/** A page of the documents under the name that `runner help` prints it by. */
export interface Page {
  readonly name: string;
  /** Its path below docs/, without `.md`. */
  readonly path: string;
  readonly title: string;
  readonly text: string;
  /** Words that it is also found by. */
  readonly synonyms: readonly string[];
}

/** The directories of docs/, in the order in which a reader needs them. */
export const SECTIONS = ["start", "concepts", "cookbook", "ci", "migrate", "reference", "about"];

/** Pages in the order of their sections; of two of one name, the second has its path for a name. */
export function listPages(documents: Documents): readonly Page[] {
  const names = new Set<string>();
  const paths = Object.keys(documents).filter((path) => path.includes("/")).toSorted((a, b) =>
    sectionOf(a) - sectionOf(b) || (orderOf(a) < orderOf(b) ? -1 : 1)
  );
  return paths.map((file) => {
    const path = file.replace(/\.md$/, "");
    const short = path.replace(/\/overview$/, "").replace(/^.*\//, "");
    const name = names.has(short) ? path : short;
    names.add(name);
    const text = documents[file]!;
    const synonyms = (SYNONYMS as Readonly<Record<string, string>>)[file] ?? "";
    return { name, path, title: titleOf(text), text, synonyms: synonyms.split(", ") };
  });
}

function sectionOf(path: string): number {
  return SECTIONS.indexOf(path.split("/", 1)[0]!);
}

/** The overview of a section comes first. */
function orderOf(path: string): string {
  return path.replace("/overview.md", "");
}

function titleOf(text: string): string {
  return /^# (.*)/m.exec(text)?.[1]?.replaceAll("`", "") ?? "";
}

/** The pages of that name, the best first, and those that have the word as a synonym. */
export function findPages(pages: readonly Page[], word: string) {
  const wanted = normal(word);
  const isNamed: readonly ((page: Page) => boolean)[] = [
    ({ name, path }) => normal(name) === wanted || path === word,
    ({ path }) => normal(path.replace(/^.*\//, "")) === wanted,
    ({ title }) => normal(title) === wanted,
  ];
  const named = [...new Set(isNamed.flatMap((test) => pages.filter(test)))];
  const meant = pages.filter((page) =>
    !named.includes(page) && page.synonyms.some((one) => normal(one) === wanted)
  );
  return { named, meant };
}

/** "Sign in", "sign_in" and "sign-in" are one. */
function normal(text: string): string {
  return text.toLowerCase().replace(/[\s_]+/g, "-");
}
