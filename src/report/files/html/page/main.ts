/**
 * The script of the page: shows a run, or the list of workflows of a suite. `deno task page` makes
 * `../page_script.ts` of it.
 *
 * @module
 */
import { parseExactly } from "../../../../base/value/parse_json.ts";
import type { IndexEntry, PageData, PageDetails, PageJob, PageStep } from "../page_data.ts";
import { jobDetails, stepDetails } from "./details.ts";
import {
  addEventListener,
  document,
  find,
  hasModifier,
  history,
  location,
  matchMedia,
  type PageElement,
  show,
} from "./dom.ts";
import { findRows, type Row, type RowTarget } from "./find_rows.ts";
import { drawGraph } from "./graph.ts";
import { connectFilters, highlight, makeSearch, wordsIn } from "./search.ts";
import { makeWaterfall } from "./waterfall.ts";

/** Larger graphs are slow, and nobody can read them. */
const MAX_DRAWN = 1000;

document.documentElement.setAttribute("class", "js");
if (document.getElementById("index")) showSuite();
else showRun("");

/** Shows the list of workflows, or the one that the address names: `#run-3`. */
function showSuite(): void {
  const chosen = chosenRun();
  // Each workflow begins with a new page, so that nothing of another one is left.
  addEventListener("hashchange", () => {
    if (chosenRun() !== chosen) location.reload();
  });
  if (chosen === undefined || !document.getElementById(`data-${chosen}`)) return showIndex();
  find("index").hidden = true;
  for (const id of [`head-${chosen}`, "to-index"]) find(id).hidden = false;
  showRun(`-${chosen}`);
}

function chosenRun(): string | undefined {
  return /^#run-(\d+)(?:\/|$)/.exec(location.hash)?.[1];
}

/** The data of a run; each line of its details is parsed when it is needed. */
function readRun(run: string) {
  const data: PageData = JSON.parse(find(`data${run}`).textContent!);
  const lines = find(`details-data${run}`).textContent!.trim().split("\n");
  return { data, detailsOf: (step: number): PageDetails => parseExactly(lines[step]!) };
}

function showIndex(): void {
  const entries: readonly IndexEntry[] = JSON.parse(find("index-data").textContent!);
  const [field, filter] = [find("index-search"), find("index-show")];
  find("index-filters").hidden = false;

  /** Looks for words in runs, whose data is read when it is first searched. */
  const searches = new Map<number, (words: readonly string[]) => boolean>();
  const makeRunSearch = (run: number) => {
    const { data, detailsOf } = readRun(`-${run}`);
    // The file is in the index already, and a line number is in every file.
    const steps = data.steps.map((step) => ({ ...step, position: undefined }));
    const { inStep, inJob } = makeSearch({ ...data, steps }, detailsOf);
    return (words: readonly string[]) =>
      data.jobs.some((job) => inJob(job, words)) || steps.some((_, index) => inStep(index, words));
  };
  const isInRun = (run: number, words: readonly string[]) => {
    const hasWords = searches.get(run) ?? makeRunSearch(run);
    searches.set(run, hasWords);
    return hasWords(words);
  };

  const showEntries = () => {
    const words = wordsIn(field);
    let count = 0;
    for (const [index, { state, text }] of entries.entries()) {
      const fits = (filter.value === "all" || filter.value === state) &&
        (words.every((word) => text.includes(word)) || isInRun(index, words));
      find(`run-row-${index}`).hidden = !fits;
      if (fits) count++;
    }
    find("index-nothing").hidden = count > 0;
    find("index-count").textContent = countText(count, entries.length, "workflow");
  };

  const clearSearch = connectFilters(field, filter, showEntries);
  addSearchKeys(field, clearSearch, () => {});
  if (entries.some(({ state }) => state === "failed")) filter.value = "failed";
  showEntries();
}

function countText(count: number, total: number, noun: string): string {
  return `${count} of ${total} ${noun}${total === 1 ? "" : "s"}`;
}

/** `/` goes to the search, and Escape empties it. */
function addSearchKeys(
  field: PageElement,
  clearSearch: () => void,
  onEscape: (target: unknown) => void,
): void {
  addEventListener("keydown", (event) => {
    const { key, target } = event;
    if (hasModifier(event)) return;
    if (key === "/" && target !== field) {
      event.preventDefault();
      field.focus();
    } else if (key === "Escape" && target === field && field.value !== "") clearSearch();
    else if (key === "Escape") onEscape(target);
  });
}

/** Shows a run; `run` is `-3` for that of a suite. */
function showRun(run: string): void {
  const { data, detailsOf } = readRun(run);
  const { jobs, steps } = data;
  const [field, filter] = [find("search"), find("show")];
  const [panel, list] = [find("details"), find("rows")];
  for (const id of ["graph-part", "main", "filters"]) find(id).hidden = false;

  const durations = steps.map(({ duration }) => duration).sort((a, b) => a - b);
  const slow = durations[Math.floor(durations.length * 0.9)] ?? 0;
  const fitsFilter = ({ state, duration, flaky }: PageStep) => {
    const { value } = filter;
    if (value === "slow") return duration >= slow;
    return value === "all" || (value === "flaky" ? flaky === true : value === state);
  };
  const search = makeSearch(data, detailsOf);
  const links = makeLinks(data, run);
  const names = new Map(jobs.map(({ id, name }) => [id, name]));

  let rows: readonly Row[] = [];
  let selected: Row | undefined;
  const folded = new Set<string>();
  const keyOf = ({ kind, index }: RowTarget) => `${kind} ${index}`;
  const positionOf = (target: RowTarget) => {
    return rows.findIndex((row) => keyOf(row) === keyOf(target));
  };

  const showDetails = (row: Row) => {
    selected = row;
    const { kind, index } = row;
    const link = location.href.split("#")[0] + links.fragmentOf(row);
    if (kind === "job") show(panel, jobDetails(jobs[index]!, (id) => names.get(id), link));
    else {
      const step = steps[index]!;
      show(panel, stepDetails(step, jobs[step.job]!, detailsOf(index), link));
    }
    panel.scrollTop = 0;
    highlight(panel, wordsIn(field));
  };

  const showRows = () => {
    const words = wordsIn(field);
    const found = findRows(data, {
      fits: (step, index) => fitsFilter(step) && search.inStep(index, words),
      fitsJob: (job: PageJob) =>
        ["all", job.state].includes(filter.value) && search.inJob(job, words),
      isFolded: (target) => folded.has(keyOf(target)),
    });
    rows = found.rows;
    find("count").textContent = countText(found.count, steps.length, "step");
    find("nothing").hidden = rows.length > 0;
    list.hidden = rows.length === 0;
    waterfall.show(rows, selected ? positionOf(selected) : -1);
    highlight(panel, words);
  };

  const waterfall = makeWaterfall(list, find("axis"), data, {
    onSelect(row, isClick) {
      showDetails(row);
      try {
        // The address can be passed on.
        history.replaceState(null, "", links.fragmentOf(row));
      } catch {
        // Some browsers limit how often it changes.
      }
      const isNarrow = matchMedia("(max-width: 900px)").matches;
      if (isClick && isNarrow) panel.scrollIntoView({ block: "start" });
    },
    onFold(row, isFolded) {
      if (isFolded) folded.add(keyOf(row));
      else folded.delete(keyOf(row));
      showRows();
    },
    onEnter: () => panel.focus(),
  });

  const clearSearch = connectFilters(field, filter, showRows);

  /** Shows a job or step, whatever hides it. */
  const reveal = (target: RowTarget) => {
    if (positionOf(target) < 0) {
      clearSearch();
      filter.value = "all";
      folded.clear();
      showRows();
    }
    waterfall.select(positionOf(target));
  };
  const followLink = () => {
    const target = links.find(location.hash);
    if (target) reveal(target);
  };
  addEventListener("hashchange", followLink);
  addSearchKeys(field, clearSearch, (target) => {
    if (target === field || panel.contains(target)) list.focus();
  });

  if (steps.some(({ state }) => state === "failed")) filter.value = "failed";
  showRows();
  followLink();
  const firstFailed = rows.find(({ kind, index }) =>
    kind === "step" && steps[index]!.state === "failed"
  );
  if (!selected && firstFailed) {
    showDetails(firstFailed);
    waterfall.show(rows, positionOf(firstFailed));
  }

  if (jobs.length > MAX_DRAWN) show(find("graph"), `More than ${MAX_DRAWN} jobs are not drawn.`);
  else if (jobs.length > 0) {
    show(find("graph"), drawGraph(jobs, (index) => reveal({ kind: "job", index })));
  }
}

/** Fragments of addresses, which name jobs and steps by what other runs have too. */
function makeLinks({ jobs, steps }: PageData, run: string) {
  const prefix = run === "" ? "#" : `#run${run}/`;
  const jobPaths = jobs.map(({ id }) => `job=${encodeURIComponent(id)}`);
  const around: string[] = [];
  const stepPaths = steps.map(({ job, depth, key }) => {
    around.length = depth;
    around.push(key);
    return `step=${[encodeURIComponent(jobs[job]!.id), ...around].join("/")}`;
  });
  return {
    /** `#job=api`, or `#step=api/login`; after `#run-2/` in the report of a suite. */
    fragmentOf: ({ kind, index }: RowTarget) =>
      prefix + (kind === "job" ? jobPaths[index] : stepPaths[index]),
    find(fragment: string): RowTarget | undefined {
      if (!fragment.startsWith(prefix)) return undefined;
      const path = fragment.slice(prefix.length);
      const [job, step] = [jobPaths.indexOf(path), stepPaths.indexOf(path)];
      if (job >= 0) return { kind: "job", index: job };
      return step >= 0 ? { kind: "step", index: step } : undefined;
    },
  };
}
