import type { PageData, PageDetails, PageJob, PageStep } from "../page_data.ts";
import { fragmentOf, makeTargets, readAddress, writeAddress } from "./address.ts";
import { jobDetails, stepDetails } from "./details.ts";
import {
  addEventListener,
  document,
  find,
  location,
  matchMedia,
  reachScrolled,
  show,
} from "./dom.ts";
import { addKeys, countText, Filters } from "./filters.ts";
import { findRows, makeWaterfall, type Row, type RowTarget } from "./waterfall.ts";
import { showGraph } from "./graph.ts";
import { highlight, makeSearch } from "./search.ts";
import { parseExactly } from "../../../../base/value/parse_json.ts";

/** Shows a run; `run` is the number of that of a suite. */
export function showRun(run?: string): void {
  const { data, detailsOf } = readRun(run === undefined ? "" : `-${run}`);
  const { jobs, steps } = data;
  const [main, panel, list] = [find("main"), find("details"), find("rows")];
  for (const id of ["graph-part", "main"]) find(id).hidden = false;

  const durations = steps.map(({ duration }) => duration).sort((a, b) => a - b);
  const slow = durations[Math.floor(durations.length * 0.9)] ?? 0;
  const isWanted = ({ state, duration, flaky }: PageStep) => {
    const wanted = filters.state;
    if (wanted === "slow") return duration >= slow;
    return wanted === "all" || (wanted === "flaky" ? flaky === true : wanted === state);
  };
  const search = makeSearch(data, detailsOf);
  const targets = makeTargets(data);
  // As the header counts them.
  const total = sumOf(jobs.map(({ notRun }) => notRun)) +
    sumOf(steps.map(({ depth, runs = 1 }) => depth === 0 ? runs : 0));
  const names = new Map(jobs.map(({ id, name }) => [id, name]));

  let rows: readonly Row[] = [];
  let selected: RowTarget | undefined;
  const folded = new Set<string>();
  const keyOf = ({ kind, index }: RowTarget) => `${kind} ${index}`;
  const positionOf = (target: RowTarget) => rows.findIndex((row) => keyOf(row) === keyOf(target));

  const address = () => ({
    run,
    target: selected && targets.nameOf(selected),
    ...filters.settings,
  });
  const linkOf = () => location.href.split("#")[0] + fragmentOf(address());

  const showDetails = (target: RowTarget) => {
    selected = target;
    const { kind, index } = target;
    if (kind === "job") {
      const job = jobs[index]!;
      const linkTo = (key: string) =>
        fragmentOf({ run, target: `step=${encodeURIComponent(job.id)}/${key}` });
      const own = steps.filter((step) => step.job === index);
      const width = panel.clientWidth - 40;
      show(panel, jobDetails(job, own, (id) => names.get(id), linkOf, linkTo, width));
    } else {
      const step = steps[index]!;
      show(panel, stepDetails(step, jobs[step.job]!, detailsOf(index), linkOf));
    }
    panel.scrollTop = 0;
    reachScrolled(panel);
    highlight(panel, filters.words);
  };

  const showRows = () => {
    const { words, state } = filters;
    const fitsJob = (job: PageJob) =>
      ["all", job.state].includes(state) && search.inJob(job, words);
    const found = findRows(data, {
      fits: (step, index) => isWanted(step) && search.inStep(index, words),
      fitsJob,
      isFolded: (target) => folded.has(keyOf(target)),
    });
    rows = found.rows;
    const notRun = ["all", "skipped"].includes(state)
      ? sumOf(jobs.map((job) => fitsJob(job) ? job.notRun : 0))
      : 0;
    find("count").textContent = countText(found.count + notRun, total, "step");
    find("nothing").hidden = rows.length > 0;
    list.hidden = rows.length === 0;
    waterfall.show(rows, selected ? positionOf(selected) : -1);
    highlight(panel, words);
  };

  const waterfall = makeWaterfall(list, find("axis"), data, {
    onSelect(row, cause) {
      showDetails(row);
      writeAddress(address());
      // The details are below the list where the window is narrow, and beside it otherwise.
      const isNarrow = matchMedia("(max-width: 900px)").matches;
      if (isNarrow && ["click", "failure"].includes(cause)) {
        panel.scrollIntoView({ block: "start" });
      } else if (!isNarrow && ["key", "failure"].includes(cause)) {
        main.scrollIntoView({ block: "start" });
      }
    },
    onFold(row, isFolded) {
      if (isFolded) folded.add(keyOf(row));
      else folded.delete(keyOf(row));
      showRows();
    },
    onEnter: () => panel.focus(),
  });

  const byDefault = steps.some(({ state }) => state === "failed") ? "failed" : "all";
  const filters = new Filters("", byDefault, () => {
    showRows();
    writeAddress(address());
  });

  /** Shows a job or step, whatever hides it. */
  const reveal = (target: RowTarget, cause: "link" | "failure") => {
    if (positionOf(target) < 0) {
      filters.set({ show: "all" });
      folded.clear();
      showRows();
    }
    waterfall.select(positionOf(target), cause);
  };
  const followAddress = (cause: "link" | "failure") => {
    const { target, ...settings } = readAddress();
    filters.set(settings);
    showRows();
    const found = targets.find(target);
    if (!found) return;
    // A link with a filter is as much about what that leaves.
    const isFiltered = settings.show !== undefined || settings.find !== undefined;
    if (isFiltered && positionOf(found) < 0) showDetails(found);
    else reveal(found, cause);
  };

  const failures = failuresOf(data);
  const orderOf = ({ kind, index }: RowTarget) =>
    kind === "step" ? [steps[index]!.job, index + 1] : [index, 0];
  const isBefore = (one: RowTarget, other: RowTarget) => {
    const [[job, step], [otherJob, otherStep]] = [orderOf(one), orderOf(other)] as const;
    return job! < otherJob! || job === otherJob && step! < otherStep!;
  };
  addKeys(filters, {
    toFailure(direction) {
      const next = direction > 0
        ? failures.find((one) => !selected || isBefore(selected, one))
        : failures.findLast((one) => !selected || isBefore(one, selected));
      if (!next) return;
      reveal(next, "failure");
      if (document.activeElement === document.body) list.focus({ preventScroll: true });
    },
    onEscape(target) {
      if (target === filters.field || panel.contains(target)) list.focus();
    },
    onKey(event) {
      if (event.target !== document.body && !list.contains(event.target)) return;
      if (!waterfall.press(event)) return;
      event.preventDefault();
      if (event.target === document.body && event.key !== "Enter") {
        list.focus({ preventScroll: true });
      }
    },
  });

  addEventListener("hashchange", () => followAddress("failure"));
  addEventListener("resize", () => reachScrolled(panel));
  followAddress("link");
  // Of a load job its curves say more than one of its rounds.
  const first =
    rows.find(({ kind, index }) =>
      kind === "step" && steps[index]!.state === "failed" && !jobs[steps[index]!.job]!.load
    ) ?? rows.find(({ kind, index }) => kind === "job" && jobs[index]!.load);
  if (!selected && first) {
    showDetails(first);
    waterfall.show(rows, positionOf(first));
  }
  showGraph(jobs, (index) => reveal({ kind: "job", index }, "link"));

  // Until the page is scrolled that far, the wheel scrolls it and not what is in it.
  const checkWhole = () =>
    document.documentElement.classList.toggle("whole", main.getBoundingClientRect().top < 1);
  addEventListener("scroll", checkWhole);
  checkWhole();
}

function sumOf(numbers: readonly (number | undefined)[]): number {
  return numbers.reduce<number>((sum, number = 0) => sum + number, 0);
}

/** The jobs and steps that failed, in their order. */
function failuresOf({ jobs, steps }: PageData): readonly RowTarget[] {
  const failed: RowTarget[] = [];
  let index = 0;
  for (const [job, { state, failures }] of jobs.entries()) {
    if (state === "failed" && failures.length > 0) failed.push({ kind: "job", index: job });
    for (; steps[index]?.job === job; index++) {
      if (steps[index]!.state === "failed") failed.push({ kind: "step", index });
    }
  }
  return failed;
}

/** The data of a run, whose ids end in `run`; each line of its details is parsed when needed. */
export function readRun(run: string) {
  const data: PageData = JSON.parse(find(`data${run}`).textContent!);
  const lines = find(`details-data${run}`).textContent!.trim().split("\n");
  return { data, detailsOf: (step: number): PageDetails => parseExactly(lines[step]!) };
}
