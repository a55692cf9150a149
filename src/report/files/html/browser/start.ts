import type { PageData, PageDetails, PageJob, PageStep } from "../page_data.ts";
import type { PageDocument, PageElement, PageEvent } from "./dom.ts";
import type { Row } from "./find_rows.ts";
import type { PageParts } from "./parts.ts";

declare const document: PageDocument;
declare function addEventListener(type: string, hear: (event: PageEvent) => void): void;

declare const location: { readonly hash: string; readonly href: string; reload(): void };
declare const history: { replaceState(state: null, unused: "", url: string): void };
declare function setTimeout(act: () => void, milliseconds: number): number;
declare function matchMedia(query: string): { readonly matches: boolean };

/** Brings the page to life: that of a run, or of the run of a suite that its address names. */
export function startPage(parts: PageParts): void {
  const [MOST_DRAWN, READ_AT_ONCE] = [1000, 100];
  const { makeElement: el, formatTime: time, makeTicks: ticks } = parts;
  const find = (id: string): PageElement => document.getElementById(id)!;
  parts.writeIntegers();
  document.documentElement.setAttribute("class", "js");
  // What is for readers without scripts comes last.
  const isLoading = document.readyState === "loading";
  const dropStatic = () => find("static").remove();
  if (isLoading) document.addEventListener("DOMContentLoaded", dropStatic);
  else dropStatic();
  const isSuite = document.getElementById("index") !== null;
  const runOf = (fragment: string) => /^#run-(\d+)(?:\/|$)/.exec(fragment)?.[1];
  const chosenRun = runOf(location.hash);
  // Each run begins afresh: nothing of another one is left on the page.
  addEventListener("hashchange", () => {
    if (isSuite && runOf(location.hash) !== chosenRun) location.reload();
  });
  const run = isSuite ? `-${chosenRun}` : "";
  if (isSuite && !document.getElementById(`data${run}`)) {
    return parts.startIndex(parts);
  }
  if (isSuite) find("index").hidden = true;
  if (isSuite) { for (const id of [`head${run}`, "to-index"]) find(id).hidden = false; }
  const data: PageData = JSON.parse(find(`data${run}`).textContent!);
  const [search, filter, panel, list] = [
    find("search"),
    find("show"),
    find("details"),
    find("rows"),
  ];
  for (const id of ["graph-part", "main"]) find(id).hidden = false;

  // The details come after the script, so that the rows need not wait for them.
  let lines: readonly string[] | undefined;
  const detailsOf = (index: number): PageDetails | undefined => {
    if (!lines && document.readyState !== "loading") {
      lines = find(`details-data${run}`).textContent!.trim().split("\n");
    }
    const line = lines?.[index];
    return line === undefined ? undefined : parts.parseExactly(line);
  };

  const durations = data.steps.map(({ duration }) => duration).sort((a, b) => a - b);
  const slow = durations[Math.floor(durations.length * 0.9)] ?? 0;
  const filters: Readonly<Record<string, (step: PageStep) => boolean>> = {
    all: () => true,
    failed: ({ state }) => state === "failed",
    slow: ({ duration }) => duration >= slow,
    flaky: ({ flaky }) => flaky === true,
    skipped: ({ state }) => state === "skipped",
    untested: ({ state }) => state === "untested",
    tolerated: ({ state }) => state === "tolerated",
  };
  const searched = parts.makeSearch(data.jobs, detailsOf);
  const wordsOf = () => search.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
  const names = new Map(data.jobs.map(({ id, name }) => [id, name]));
  const links = parts.makeLinks(data, run);
  const values = parts.makeValues(el, parts.parseExactly);
  const copyButton = parts.makeCopy(el);
  const details = parts.makeDetails(panel, {
    el,
    time,
    values,
    copyButton,
    failures: parts.makeFailures(el, values, parts.makeDifference(el), copyButton),
    showExchange: parts.makeMessages(el, values, copyButton),
    showPhases: parts.makePhases(el, time),
    showTabs: parts.makeTabs(el),
  });

  let shown: readonly Row[] = [];
  let chosen: Row | undefined;
  const folded = new Set<string>();
  const keyOf = ({ kind, index }: Pick<Row, "kind" | "index">) => `${kind} ${index}`;

  const showDetails = (row: Row) => {
    chosen = row;
    const link = location.href.split("#")[0] + links.fragmentOf(row);
    if (row.kind === "job") {
      details.showJob(data.jobs[row.index]!, (id) => names.get(id) ?? id, link);
    } else {
      const step = data.steps[row.index]!;
      details.showStep(step, data.jobs[step.job]!, detailsOf(row.index), link);
    }
    parts.highlightWords(panel, wordsOf());
  };

  /** What a reader chooses is in the address, from where it can be passed on. */
  const chooseRow = (row: Row) => {
    showDetails(row);
    try {
      history.replaceState(null, "", links.fragmentOf(row));
    } catch {
      // A browser may find that it changes too often.
    }
  };

  const showRows = () => {
    const words = wordsOf();
    const fits = filters[filter.value] ?? filters.all!;
    const fitsJob = (job: PageJob) => {
      const isIn = filter.value === "all" || filter.value === job.state;
      return isIn && searched.inJob(job, words);
    };
    const found = parts.findRows(data, {
      fits: (step, index) => fits(step) && searched.inStep(step, index, words),
      fitsJob,
      isFolded: (kind, index) => folded.has(keyOf({ kind, index })),
    });
    shown = found.rows;
    find("count").textContent = `${found.count} of ${data.steps.length} step${
      data.steps.length === 1 ? "" : "s"
    }`;
    find("nothing").hidden = shown.length > 0;
    list.hidden = shown.length === 0;
    const key = chosen && keyOf(chosen);
    rows.show(shown, shown.findIndex((row) => keyOf(row) === key));
    parts.highlightWords(panel, words);
  };

  const rows = parts.makeRows(list, find("axis"), data, { el, time, ticks }, {
    onSelect(row, isClick) {
      chooseRow(row);
      // Below each other, the details would be out of sight.
      if (isClick && matchMedia("(max-width: 900px)").matches) {
        panel.scrollIntoView({ block: "start" });
      }
    },
    onFold(row, isFolded) {
      if (isFolded) folded.add(keyOf(row));
      else folded.delete(keyOf(row));
      showRows();
    },
    onEnter: () => panel.focus(),
  });

  const clearSearch = parts.widenSearch(search, filter, showRows);
  const showAll = () => {
    clearSearch();
    filter.value = "all";
    folded.clear();
    showRows();
  };

  /** Brings a job or step into sight, whatever hides it. */
  const reveal = ({ kind, index }: Pick<Row, "kind" | "index">) => {
    const at = () => shown.findIndex((row) => row.kind === kind && row.index === index);
    if (at() < 0) showAll();
    rows.select(at());
  };
  const followLink = () => {
    const target = links.find(location.hash);
    if (target) reveal(target);
    return target !== undefined;
  };
  addEventListener("hashchange", followLink);

  /** Reads all texts, in short turns, while the first letters are typed. */
  let read = 0;
  const readAhead = () => {
    const first = read;
    while (read < data.steps.length && read < first + READ_AT_ONCE) {
      searched.inStep(data.steps[read]!, read++, [""]);
    }
    if (read > first) setTimeout(readAhead, 0);
  };
  search.addEventListener("focus", readAhead);
  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { key, target } = event;
    if (key === "/" && target !== search) {
      event.preventDefault();
      search.focus();
    } else if (key === "Escape" && target === search && search.value !== "") clearSearch();
    else if (key === "Escape" && (target === search || panel.contains(target))) list.focus();
  });

  if (data.steps.some(({ state }) => state === "failed")) filter.value = "failed";
  showRows();
  const first = shown.findIndex(({ kind, index }) =>
    kind === "step" && data.steps[index]!.state === "failed"
  );
  const showFirst = (row: Row) => {
    showDetails(row);
    rows.show(shown, first);
  };
  const begin = () => {
    if (chosen) showDetails(chosen);
    else if (followLink()) return;
    else if (first >= 0) showFirst(shown[first]!);
  };
  if (isLoading) document.addEventListener("DOMContentLoaded", begin);
  else begin();

  const graph = find("graph");
  if (data.jobs.length === 0) return;
  if (data.jobs.length > MOST_DRAWN) {
    graph.append(`More than ${MOST_DRAWN} jobs are not drawn.`);
    return;
  }
  graph.append(
    parts.drawGraph(data.jobs, parts.layOutGraph, (index) => reveal({ kind: "job", index })),
  );
}
