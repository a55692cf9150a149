import type { IndexEntry, PageData } from "../page_data.ts";
import type { PageDocument, PageElement, PageEvent } from "./dom.ts";
import type { makeSearch } from "./search.ts";
import type { widenSearch } from "./widen_search.ts";

declare const document: PageDocument;
declare function addEventListener(type: string, hear: (event: PageEvent) => void): void;

/** Shows the list of workflows, and of it those in which the words that are looked for are. */
export function startIndex(
  parts: {
    readonly makeSearch: typeof makeSearch;
    readonly parseExactly: <T>(json: string) => T;
    readonly widenSearch: typeof widenSearch;
  },
): void {
  const find = (id: string): PageElement => document.getElementById(id)!;
  const entries: readonly IndexEntry[] = JSON.parse(find("index-data").textContent!);
  const [field, filter] = [find("index-search"), find("index-show")];
  find("index").hidden = false;
  find("index-filters").hidden = false;

  /** Whether a run has words, by run; its data is read when it is first searched. */
  const searches = new Map<number, (words: readonly string[]) => boolean>();
  const makeRunSearch = (run: number) => {
    const { jobs, steps }: PageData = JSON.parse(find(`data-${run}`).textContent!);
    const lines = find(`details-data-${run}`).textContent!.trim().split("\n");
    const { inStep, inJob } = parts.makeSearch(jobs, (index) => parts.parseExactly(lines[index]!));
    return (words: readonly string[]) =>
      jobs.some((job) => inJob(job, words)) ||
      // The file is in the index already, and a line number is in every file.
      steps.some((step, index) => inStep({ ...step, place: undefined }, index, words));
  };
  const isInRun = (run: number, words: readonly string[]) => {
    if (document.readyState === "loading") return false;
    let has = searches.get(run);
    if (!has) searches.set(run, has = makeRunSearch(run));
    return has(words);
  };

  const show = () => {
    const words = field.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    let count = 0;
    entries.forEach(({ state, text }, index) => {
      const fits = (filter.value === "all" || filter.value === state) &&
        (words.every((word) => text.includes(word)) || isInRun(index, words));
      find(`run-row-${index}`).hidden = !fits;
      if (fits) count++;
    });
    find("index-nothing").hidden = count > 0;
    find("index-count").textContent = `${count} of ${entries.length} workflow${
      entries.length === 1 ? "" : "s"
    }`;
  };

  const clearSearch = parts.widenSearch(field, filter, show);
  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    if (event.key === "/" && event.target !== field) {
      event.preventDefault();
      field.focus();
    } else if (event.key === "Escape" && event.target === field) clearSearch();
  });
  if (entries.some(({ state }) => state === "failed")) filter.value = "failed";
  show();
}
