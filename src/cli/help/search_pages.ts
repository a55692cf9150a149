import type { Page } from "./pages.ts";
import { plainText } from "./render_page.ts";

/** A page that mentions what was looked for, with a line that does. */
export interface Hit {
  readonly page: Page;
  readonly line: string;
}

const MAX_HITS = 3;

/** Words of a question that are on every page. */
const COMMON_WORDS = /^(?:an?|and|by|can|do|for|how|i|in|is|it|my|of|on|or|the|to|what|with)$/;

/** The pages that are most about some words, the best first. */
export function searchPages(pages: readonly Page[], words: string): readonly Hit[] {
  const asked = [...new Set(words.toLowerCase().match(/[\p{L}\p{N}_.-]+/gu))];
  const terms = asked.filter((word) => !COMMON_WORDS.test(word)).map(patternOf);
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

/** Finds a word, in its plural and the like, too; a hyphen in it may be a space. */
function patternOf(term: string): RegExp {
  const stem = term.length > 3 ? term.replace(/s$/, "") : term;
  const escaped = stem.replaceAll(".", "\\.").replaceAll("-", "[-_ ]?");
  return new RegExp(
    `(?<![\\p{L}\\p{N}])${escaped}${term.length > 2 ? "" : "(?![\\p{L}\\p{N}])"}`,
    "giu",
  );
}

function scoreOf({ title, text, synonyms }: Page, term: RegExp): number {
  const count = (where: string) => where.match(term)?.length ?? 0;
  const headings = text.split("\n").filter((line) => line.startsWith("## ")).join("\n");
  const body = count(text);
  return 12 * Math.min(count(`${title}\n${synonyms.join("\n")}`), 1) +
    3 * Math.min(count(headings), 2) + 4 * body / (body + 2 + text.length / 4000);
}

/** The first line of prose with most of the words. */
function lineWith({ text }: Page, terms: readonly RegExp[]): string {
  const prose = text.replace(/```[^]*?```/g, "");
  const lines = prose.split("\n").filter((line) => /^[-*]? ?[\p{L}`"[]/u.test(line));
  const count = (line: string) => terms.filter((term) => line.search(term) >= 0).length;
  const best = lines.reduce((best, line) => count(line) > count(best) ? line : best, "");
  return plainText(best.replace(/^[-*] /, ""));
}
