import SYNONYMS from "./synonyms.json" with { type: "json" };
import type { Documents } from "./documents.ts";
import { plainText } from "./render_page.ts";

/** A page of the documents under the name that `runner help` prints it by. */
export interface HelpPage {
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

/** Pages in the order of their sections. If two have the same name, the second goes by its path. */
export function listPages(documents: Documents): readonly HelpPage[] {
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
export function findPages(pages: readonly HelpPage[], word: string) {
  const wanted = normal(word);
  const isNamed: readonly ((page: HelpPage) => boolean)[] = [
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

/** A page that a search found, with a line that mentions the words. */
export interface Hit {
  readonly page: HelpPage;
  readonly line: string;
}

const MAX_HITS = 3;

/** Words of a question that are on every page. */
const COMMON_WORDS = /^(?:an?|and|by|can|do|for|how|i|in|is|it|my|of|on|or|the|to|what|with)$/;

/** The pages that fit some words best, the best first. */
export function searchPages(pages: readonly HelpPage[], words: string): readonly Hit[] {
  const distinct = [...new Set(words.toLowerCase().match(/[\p{L}\p{N}_.-]+/gu))];
  const terms = distinct.filter((word) => !COMMON_WORDS.test(word)).map(patternOf);
  const weights = terms.map((term) => {
    const count = pages.filter(({ text }) => text.search(term) >= 0).length;
    return Math.log(1 + pages.length / Math.max(count, 1));
  });
  const scored = pages.map((page) => {
    const scores = terms.map((term, index) => weights[index]! * scoreOf(page, term));
    // A page with all of the words is better than one with a single word many times.
    const share = scores.filter((score) => score > 0).length / Math.max(terms.length, 1);
    return { page, score: share * scores.reduce((sum, score) => sum + score, 0) };
  });
  return scored.filter(({ score }) => score > 0).sort((a, b) => b.score - a.score)
    .slice(0, MAX_HITS).map(({ page }) => ({ page, line: lineWith(page, terms) }));
}

/** A pattern for a word and its plural; a hyphen in it may be a space. */
function patternOf(term: string): RegExp {
  const stem = term.length > 3 ? term.replace(/s$/, "") : term;
  const escaped = stem.replaceAll(".", "\\.").replaceAll("-", "[-_ ]?");
  return new RegExp(
    `(?<![\\p{L}\\p{N}])${escaped}${term.length > 2 ? "" : "(?![\\p{L}\\p{N}])"}`,
    "giu",
  );
}

function scoreOf({ title, text, synonyms }: HelpPage, term: RegExp): number {
  const count = (where: string) => where.match(term)?.length ?? 0;
  const headings = text.split("\n").filter((line) => line.startsWith("## ")).join("\n");
  const body = count(text);
  return 12 * Math.min(count(`${title}\n${synonyms.join("\n")}`), 1) +
    3 * Math.min(count(headings), 2) + 4 * body / (body + 2 + text.length / 4000);
}

/** The first line of prose with most of the words. */
function lineWith({ text }: HelpPage, terms: readonly RegExp[]): string {
  const prose = text.replace(/```[^]*?```/g, "");
  const lines = prose.split("\n").filter((line) => /^[-*]? ?[\p{L}`"[]/u.test(line));
  const count = (line: string) => terms.filter((term) => line.search(term) >= 0).length;
  const best = lines.reduce((best, line) => count(line) > count(best) ? line : best, "");
  return plainText(best.replace(/^[-*] /, ""));
}
