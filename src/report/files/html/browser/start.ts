import type { PageData, PageDetails, PageJob, PageStep } from "../page_data.ts";
import type { PageDocument, PageElement, PageEvent } from "./dom.ts";
import type { Row } from "./find_rows.ts";
import type { PageParts } from "./parts.ts";

declare const document: PageDocument;
declare function addEventListener(type: string, hear: (event: PageEvent) => void): void;

declare const location: { readonly hash: string; reload(): void };

/** Brings the page to life: that of a run, or of the run of a suite that its address names. */
export function startPage(parts: PageParts): void {
  const MOST_DRAWN = 1000;
  const { makeElement: el, formatTime: time, makeTicks: ticks } = parts;
  const find = (id: string): PageElement => document.getElementById(id)!;
  const isSuite = document.getElementById("index") !== null;
  // Each run begins afresh: nothing of another one is left on the page.
  if (isSuite) addEventListener("hashchange", () => location.reload());
  const [, chosenRun] = /^#run-(\d+)$/.exec(location.hash) ?? [];
  const run = isSuite ? `-${chosenRun}` : "";
  if (isSuite && !document.getElementById(`data${run}`)) return parts.startIndex();
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
    return line === undefined ? undefined : JSON.parse(line);
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
  };
  const hasWords = parts.makeSearch(data.jobs.map(({ name }) => name), detailsOf);
  const names = new Map(data.jobs.map(({ id, name }) => [id, name]));
  const details = parts.makeDetails(panel, el, parts.makeValues(el), time);

  let shown: readonly Row[] = [];
  let chosen: Row | undefined;
  const folded = new Set<string>();
  const keyOf = ({ kind, index }: Pick<Row, "kind" | "index">) => `${kind} ${index}`;

  const showDetails = (row: Row) => {
    chosen = row;
    if (row.kind === "job") {
      return details.showJob(data.jobs[row.index]!, (id) => names.get(id) ?? id);
    }
    const step = data.steps[row.index]!;
    details.showStep(step, data.jobs[step.job]!, detailsOf(row.index));
  };

  const showRows = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const fits = filters[filter.value] ?? filters.all!;
    const fitsJob = (job: PageJob) => {
      const isIn = filter.value === "all" || filter.value === job.state;
      return isIn && words.every((word) => job.name.toLowerCase().includes(word));
    };
    const found = parts.findRows(data, {
      fits: (step, index) => fits(step) && hasWords(step, index, words),
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
  };

  const rows = parts.makeRows(list, find("axis"), data, { el, time, ticks }, {
    onSelect: showDetails,
    onFold(row, isFolded) {
      if (isFolded) folded.add(keyOf(row));
      else folded.delete(keyOf(row));
      showRows();
    },
    onEnter: () => panel.focus(),
  });

  const showAll = () => {
    search.value = "";
    filter.value = "all";
    folded.clear();
    showRows();
  };

  search.addEventListener("input", showRows);
  filter.addEventListener("change", showRows);
  addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const { key, target } = event;
    if (key === "/" && target !== search) {
      event.preventDefault();
      search.focus();
    } else if (key === "Escape" && target === search && search.value !== "") {
      search.value = "";
      showRows();
    } else if (key === "Escape" && (target === search || panel.contains(target))) list.focus();
  });

  if (data.steps.some(({ state }) => state === "failed")) filter.value = "failed";
  showRows();
  const first = shown.findIndex(({ kind, index }) =>
    kind === "step" && data.steps[index]!.state === "failed"
  );
  const begin = () => {
    if (chosen) showDetails(chosen);
    else if (first >= 0) rows.select(first);
  };
  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", begin);
  else begin();

  const graph = find("graph");
  if (data.jobs.length === 0) return;
  if (data.jobs.length > MOST_DRAWN) {
    graph.append(`More than ${MOST_DRAWN} jobs are not drawn.`);
    return;
  }
  graph.append(parts.drawGraph(data.jobs, parts.layOutGraph, (job) => {
    const at = () => shown.findIndex(({ kind, index }) => kind === "job" && index === job);
    if (at() < 0) showAll();
    rows.select(at());
  }));
}
