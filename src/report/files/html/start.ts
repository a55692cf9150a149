/// <reference lib="dom" />
import type { makeDetails } from "./details.ts";
import type { MakeElement } from "./element.ts";
import type { drawGraph } from "./graph.ts";
import type { PageData, PageStep } from "./page_data.ts";
import type { makeRows, Row } from "./rows.ts";

/** Brings the page to life. */
export function startPage(
  el: MakeElement,
  details: typeof makeDetails,
  graph: typeof drawGraph,
  list: typeof makeRows,
): void {
  const find = (id: string) => document.getElementById(id)!;
  const data: PageData = JSON.parse(find("data").textContent!);
  const search = find("search") as HTMLInputElement;
  const show = find("show") as HTMLSelectElement;

  const durations = data.steps.map(({ duration }) => duration).sort((a, b) => a - b);
  const slow = durations[Math.floor(durations.length * 0.9)] ?? 0;
  const filters: Record<string, (step: PageStep) => boolean> = {
    all: () => true,
    failed: ({ state }) => state === "failed",
    slow: ({ duration }) => duration >= slow,
    flaky: ({ flaky }) => flaky,
    skipped: ({ state }) => state === "skipped",
    untested: ({ state }) => state === "untested",
  };

  const panel = details(find("details"), el);
  const rows = list(find("rows"), data, el, ({ kind, index }: Row) => {
    if (kind === "job") return panel.showJob(data.jobs[index]!);
    const step = data.steps[index]!;
    panel.showStep(step, data.jobs[step.job]!);
  });
  let shown: Row[] = [];

  const apply = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter((word) => word !== "");
    const fits = filters[show.value] ?? filters.all!;
    const isPlain = words.length === 0 && show.value === "all";
    const byJob = new Map<number, Row[]>();
    let count = 0;
    data.steps.forEach((step, index) => {
      const job = data.jobs[step.job]!;
      const text = `${job.name} ${step.name} ${step.result.uses} ${step.place ?? ""}`.toLowerCase();
      if (!fits(step) || !words.every((word) => text.includes(word))) return;
      count++;
      const of = byJob.get(step.job);
      if (of) of.push({ kind: "step", index });
      else byJob.set(step.job, [{ kind: "step", index }]);
    });
    shown = data.jobs.flatMap((job, index) => {
      const own = byJob.get(index) ?? [];
      const isJobShown = isPlain || own.length > 0 ||
        show.value === "failed" && job.state === "failed" && words.length === 0;
      return isJobShown ? [{ kind: "job", index } as const, ...own] : [];
    });
    find("count").textContent = `${count} of ${data.steps.length} steps`;
    rows.show(shown);
  };

  search.addEventListener("input", apply);
  show.addEventListener("change", apply);
  addEventListener("keydown", (event) => {
    if (event.key === "/" && event.target !== search) {
      event.preventDefault();
      search.focus();
    } else if (event.key === "Escape" && event.target === search) {
      search.value = "";
      apply();
    }
  });
  find("graph").append(graph(data.jobs, (job) => {
    const at = () => shown.findIndex(({ kind, index }) => kind === "job" && index === job);
    if (at() < 0) {
      search.value = "";
      show.value = "all";
      apply();
    }
    rows.select(at());
  }));

  const isFailed = data.steps.some(({ state }) => state === "failed");
  if (isFailed) show.value = "failed";
  apply();
  const first = shown.findIndex(({ kind, index }) =>
    kind === "step" && data.steps[index]!.state === "failed"
  );
  if (first >= 0) rows.select(first);
}
