import { suggest } from "../../base/text/suggest.ts";
import type { Dict, SecretSink } from "../../action/action.ts";
import { excerpt } from "../../action/excerpt.ts";
import { type Candidate, listCandidates, pageText } from "./page_scripts.ts";
import type { Page } from "./puppeteer.ts";

/** Describes the content of a page, to explain why an action failed. */
export async function describePage(page: Page, secrets: SecretSink): Promise<Dict> {
  const text = excerpt(await page.evaluate(pageText), secrets, 1000);
  return { url: page.url(), title: await page.title(), text };
}

/** The place of the element in the page that a selector is nearest to. */
export async function nearestTo(page: Page, selector: string): Promise<string | undefined> {
  const candidates = await page.evaluate(listCandidates);
  return nearest(selector, candidates)?.path;
}

/** The element that a selector that matches nothing may mean: most of its parts, and nearly. */
export function nearest(
  selector: string,
  candidates: readonly Candidate[],
): Candidate | undefined {
  const wanted = partsOf(selector);
  let best: Candidate | undefined;
  let bestScore = 0;
  for (const candidate of candidates) {
    let score = 0;
    for (const { part, isTag } of wanted) {
      if (candidate.names.includes(part)) score += isTag ? 1 : 4;
      else if (!isTag) score += nearness(part, candidate.names);
    }
    // What contains the element has the same text.
    const isInBest = best !== undefined && candidate.path.startsWith(`${best.element} > `);
    if (score > bestScore || score === bestScore && isInBest) {
      [best, bestScore] = [candidate, score];
    }
  }
  // A tag alone is everywhere.
  return bestScore > 2 ? best : undefined;
}

/** An id is more likely a misspelled id than something else that is spelled alike. */
function nearness(part: string, names: readonly string[]): number {
  const bare = (name: string) => name.replace(/^[#.]/, "");
  const near = names.filter((name) => suggest(bare(part), [bare(name)]) !== undefined);
  const kindOf = (name: string) => /^[#.]?/.exec(name)![0];
  if (near.some((name) => kindOf(name) === kindOf(part))) return 3;
  return near.length > 0 ? 2.5 : 0;
}

interface Part {
  readonly part: string;
  readonly isTag: boolean;
}

/** The ids, classes, attribute values and tags of the last element in a selector. */
function partsOf(selector: string): Part[] {
  const text = /^text=(.*)$/s.exec(selector)?.[1];
  if (text !== undefined) return [{ part: text.trim(), isTag: false }];
  const last = selector.trim().split(/\s*[>+~]\s*|\s+(?![^[]*\])|\/+/).at(-1) ?? "";
  const values = last.matchAll(/=\s*["']?([^"'\]]+)["']?\s*\]/g);
  const names = last.replace(/\[[^\]]*\]/g, "").matchAll(/[#.]?[\w-]+/g);
  return [
    ...Array.from(values, ([, value]) => ({ part: value!, isTag: false })),
    ...Array.from(names, ([part]) => ({ part, isTag: !/^[#.]/.test(part) })),
  ];
}
