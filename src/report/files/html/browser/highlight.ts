import type { PageElement } from "./dom.ts";

interface TextNode {
  readonly textContent: string;
}
interface TextRange {
  setStart(node: TextNode, offset: number): void;
  setEnd(node: TextNode, offset: number): void;
}
declare const document: {
  createTreeWalker(root: PageElement, what: number): { nextNode(): TextNode | null };
  createRange(): TextRange;
};
declare const CSS: { readonly highlights?: Map<string, unknown> } | undefined;
declare const Highlight: new (...ranges: readonly TextRange[]) => unknown;

/** Marks words in what an element shows, where the browser can; returns how many it has marked. */
export function highlightWords(panel: PageElement, words: readonly string[]): number {
  const [TEXTS, MOST] = [4, 1000];
  if (typeof CSS === "undefined" || !CSS.highlights) return 0;
  CSS.highlights.delete("found");
  if (words.length === 0) return 0;
  const ranges: TextRange[] = [];
  const walker = document.createTreeWalker(panel, TEXTS);
  for (let node = walker.nextNode(); node && ranges.length < MOST; node = walker.nextNode()) {
    const text = node.textContent.toLowerCase();
    // A few letters are longer in lower case.
    if (text.length !== node.textContent.length) continue;
    for (const word of words) {
      let at = text.indexOf(word);
      while (at >= 0 && ranges.length < MOST) {
        const range = document.createRange();
        range.setStart(node, at);
        range.setEnd(node, at + word.length);
        ranges.push(range);
        at = text.indexOf(word, at + word.length);
      }
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
  return ranges.length;
}
