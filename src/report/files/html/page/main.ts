/**
 * The script of the page: shows a run, or the list of workflows of a suite. `deno task page` makes
 * `../page_script.ts` of it.
 *
 * @module
 */
import { readAddress, writeAddress } from "./address.ts";
import { addEventListener, document, find, location } from "./dom.ts";
import { showHistory } from "./show_history.ts";
import { readRun, showRun } from "./show_run.ts";
import type { IndexEntry } from "../page_data.ts";
import { addKeys, countText, Filters } from "./filters.ts";
import { hasAll, makeSearch } from "./search.ts";

document.documentElement.setAttribute("class", "js");
showHistory();
if (document.getElementById("index")) showSuite();
else showRun();

/** Shows the list of workflows, or the one that the address names: `#run-3`. */
function showSuite(): void {
  const { run } = readAddress();
  // Each workflow begins with a new page, so that nothing of another one is left.
  addEventListener("hashchange", () => {
    if (readAddress().run !== run) location.reload();
  });
  if (run === undefined || !document.getElementById(`data-${run}`)) return showIndex();
  find("index").hidden = true;
  for (const id of [`head-${run}`, "to-index"]) find(id).hidden = false;
  showRun(run);
}

/** Shows the list of the workflows of a suite. */
export function showIndex(): void {
  const entries: readonly IndexEntry[] = JSON.parse(find("index-data").textContent!);

  /** Looks for words in runs, whose data is read when it is first searched. */
  const searches = new Map<number, (words: readonly RegExp[]) => boolean>();
  const makeRunSearch = (run: number) => {
    const { data, detailsOf } = readRun(`-${run}`);
    // The file is in the index already, and a line number is in every file.
    const steps = data.steps.map((step) => ({ ...step, position: undefined }));
    const { inStep, inJob } = makeSearch({ ...data, steps }, detailsOf);
    return (words: readonly RegExp[]) =>
      data.jobs.some((job) => inJob(job, words)) || steps.some((_, index) => inStep(index, words));
  };
  const isInRun = (run: number, words: readonly RegExp[]) => {
    const hasWords = searches.get(run) ?? makeRunSearch(run);
    searches.set(run, hasWords);
    return hasWords(words);
  };

  const rowOf = (run: number) => find(`run-row-${run}`);
  const showEntries = () => {
    const { words, state: wanted } = filters;
    let count = 0;
    for (const [index, { state, text }] of entries.entries()) {
      const fits = (wanted === "all" || wanted === state) &&
        (hasAll(text, words) || isInRun(index, words));
      rowOf(index).hidden = !fits;
      if (fits) count++;
    }
    find("index-nothing").hidden = count > 0;
    find("index-count").textContent = countText(count, entries.length, "workflow");
  };

  const byDefault = entries.some(({ state }) => state === "failed") ? "failed" : "all";
  const filters = new Filters("index-", byDefault, () => {
    showEntries();
    writeAddress(filters.settings);
  });
  filters.set(readAddress());
  addKeys(filters, {
    toFailure(direction) {
      const failed = [...entries.keys()].filter((run) =>
        entries[run]!.state === "failed" && !rowOf(run).hidden
      );
      const at = failed.findIndex((run) => rowOf(run).contains(document.activeElement));
      const next = failed[at < 0 && direction < 0 ? failed.length - 1 : at + direction];
      if (next !== undefined) find(`run-link-${next}`).focus();
    },
  });
  showEntries();
}
