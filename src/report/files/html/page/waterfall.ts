import { formatElapsed } from "../../../../base/value/duration.ts";
import type { PageData, PageJob, PageStep } from "../page_data.ts";
import { addEventListener, el, type PageElement, type PageEvent } from "./dom.ts";

/** The common data of rows of jobs and of steps. */
type Item = Omit<PageJob & PageStep, "state"> & { readonly state: keyof typeof ICONS };
type RowItem = Partial<Item> & Pick<Item, "name" | "state" | "duration">;

/** What selects a row. */
type SelectCause = "click" | "key" | "link" | "failure";

/** The events of the list. */
interface RowListeners {
  readonly onSelect: (row: Row, cause: SelectCause) => void;
  readonly onFold: (row: Row, isFolded: boolean) => void;
  readonly onEnter: () => void;
}

const ROW_HEIGHT = 28;
/** Rows drawn above and below those in sight. */
const MARGIN = 10;
const TICK_WIDTH = 56;

/** The signs of states. */
export const ICONS = {
  passed: "✓",
  failed: "✗",
  skipped: "-",
  untested: "○",
  allowed: "✗",
  unfinished: "…",
};

/** Draws rows as they scroll into view, so that ten thousand are as fast as ten. */
export function makeWaterfall(
  list: PageElement,
  axis: PageElement,
  data: PageData,
  { onSelect, onFold, onEnter }: RowListeners,
) {
  let rows: readonly Row[] = [];
  let selected = -1;
  const space = el("div.space", { role: "none" });
  list.append(space);

  const percent = (milliseconds: number) => `${milliseconds / (data.duration || 1) * 100}%`;

  const bar = (name: string, start: number, duration: number, title?: string) => {
    const element = el("span", { class: name, title });
    element.style.left = percent(start);
    element.style.width = percent(duration);
    return element;
  };

  const barsOf = (item: RowItem) => {
    const { start, state, duration, critical, attempts, phases = [], arrivals = [] } = item;
    if (start === undefined) return [];
    if (state === "unfinished") return [bar("bar unfinished", start, data.duration - start)];
    // The last response came at the end of the step.
    let phaseStart = start + duration - phases.reduce((sum, [, time]) => sum + time, 0);
    const phaseBars = phases.map(([name, time]) => {
      const title = `${name.replace("_", " ")} ${time}ms`;
      const element = bar(`phase ${name}`, Math.max(start, phaseStart), time, title);
      phaseStart += time;
      return element;
    });
    const stepBars = attempts
      ? [
        bar("bar waiting", start, duration),
        ...attempts.map(([from, time, outcome]) =>
          bar(`bar ${outcome === "passed" ? "passed" : "failed"}`, from, time)
        ),
      ]
      : [bar(`bar ${state}${critical ? " critical" : ""}`, start, duration)];
    const marks = arrivals.map((time) =>
      bar("arrival", time, 0, `a message came at ${formatElapsed(time)}`)
    );
    return [...stepBars, ...phaseBars, ...marks];
  };

  const rowElement = (row: Row, position: number) => {
    const { kind, index, level, isFolded } = row;
    const item: RowItem = kind === "job" ? data.jobs[index]! : data.steps[index]!;
    const { name, state, allowFailure, duration, start, attempts, flaky, critical, message } = item;
    const twist = el("span.twist", { "aria-hidden": "true" });
    if (isFolded !== undefined) {
      twist.append(isFolded ? "▸" : "▾");
      twist.addEventListener("click", () => onFold(row, !isFolded));
    }
    const iconLabel = { role: "img", "aria-label": state.replace("un", "not ") };
    const label = el(
      "span.name",
      twist,
      el(`span.icon.${state}`, iconLabel, ICONS[state]),
      ` ${name.replace(/\s+/g, " ")}`,
    );
    label.style.paddingLeft = `${level - 1}em`;
    const element = el(
      `div.row.columns.${kind}`,
      {
        role: "treeitem",
        id: `row-${position}`,
        "aria-selected": String(position === selected),
        "aria-level": level,
        "aria-posinset": row.position,
        "aria-setsize": row.of,
        "aria-expanded": isFolded === undefined ? undefined : String(!isFolded),
      },
      el(
        "span.head",
        label,
        attempts && el("span.tag", `${attempts.length} attempts`),
        allowFailure && el("span.tag.flaky", "allowed failure"),
        flaky && el("span.tag.flaky", "flaky"),
        critical !== undefined && el("span.tag.critical", "critical path"),
        message !== undefined && el("span.cause", message),
      ),
      el("span.track", { "aria-hidden": "true" }, barsOf(item)),
      el(
        "span.time",
        start !== undefined && state !== "unfinished" && formatElapsed(duration),
      ),
    );
    element.style.top = `${position * ROW_HEIGHT}px`;
    element.addEventListener("click", (event) => {
      if (event.target !== twist || isFolded === undefined) select(position, "click");
    });
    return element;
  };

  const draw = () => {
    const first = Math.max(0, Math.floor(list.scrollTop / ROW_HEIGHT) - MARGIN);
    const last = Math.ceil((list.scrollTop + list.clientHeight) / ROW_HEIGHT) + MARGIN;
    const drawn = rows.slice(first, last);
    space.replaceChildren(...drawn.map((row, offset) => rowElement(row, first + offset)));
    if (drawn[selected - first]) list.setAttribute("aria-activedescendant", `row-${selected}`);
    else list.removeAttribute("aria-activedescendant");
  };

  const drawAxis = () => {
    const marks = el("span.track");
    // The rows have a scroll bar beside them.
    axis.style.marginRight = `${list.offsetWidth - list.clientWidth}px`;
    axis.replaceChildren(el("span"), marks, el("span.time"));
    const ticks = makeTicks(data.duration, Math.floor(marks.clientWidth / TICK_WIDTH));
    marks.append(...ticks.map((time) => {
      const mark = el("span.tick", time === 0 ? "0" : formatElapsed(time));
      mark.style.left = percent(time);
      return mark;
    }));
    // The rows draw a line at each, as their background.
    space.style.setProperty("--tick", percent(ticks[1] ?? data.duration * 2));
  };

  const scrollToSelected = () => {
    const top = selected * ROW_HEIGHT;
    const lowest = top + ROW_HEIGHT - list.clientHeight;
    list.scrollTop = Math.min(top, Math.max(lowest, list.scrollTop));
  };

  const select = (position: number, cause: SelectCause) => {
    const row = rows[position];
    if (!row) return;
    selected = position;
    scrollToSelected();
    draw();
    onSelect(row, cause);
  };

  /** The row that a key leads to, or whether it folds or unfolds the selected one. */
  const actionOf = (key: string): number | "fold" | "unfold" | undefined => {
    const page = Math.max(1, Math.floor(list.clientHeight / ROW_HEIGHT) - 1);
    const row = rows[selected];
    switch (key) {
      case "ArrowDown":
      case "j":
        return selected + 1;
      case "ArrowUp":
      case "k":
        return selected - 1;
      case "PageDown":
        return selected + page;
      case "PageUp":
        return selected - page;
      case "Home":
        return 0;
      case "End":
        return rows.length - 1;
      case "ArrowRight":
        if (row?.isFolded) return "unfold";
        return row?.isFolded === undefined ? selected : selected + 1;
      case "ArrowLeft": {
        if (!row || row.isFolded === false) return "fold";
        const parent = rows.findLastIndex(({ level }, at) => at < selected && level < row.level);
        return parent < 0 ? selected : parent;
      }
      default:
        return undefined;
    }
  };

  list.addEventListener("scroll", draw, { passive: true });
  addEventListener("resize", () => {
    drawAxis();
    draw();
  });
  /** Does what a key asks of the list; false if it asks for nothing. */
  const press = ({ key }: PageEvent): boolean => {
    const action = actionOf(key);
    const row = rows[selected];
    if (key === "Enter" && row) onEnter();
    else if (action === undefined) return false;
    else if (typeof action === "number") {
      select(Math.max(0, Math.min(rows.length - 1, action)), "key");
    } else if (row) onFold(row, action === "fold");
    return true;
  };
  drawAxis();

  return {
    /** Shows other rows, and keeps the selected one where it is among them. */
    show(shown: readonly Row[], now: number) {
      rows = shown;
      selected = now;
      space.style.height = `${rows.length * ROW_HEIGHT}px`;
      if (now < 0) list.scrollTop = 0;
      else scrollToSelected();
      draw();
    },
    /** Selects a row and scrolls to it. */
    select,
    press,
  };
}

const [SECOND, MINUTE, HOUR, DAY] = [1000, 60_000, 3_600_000, 86_400_000];

/** Times between ticks that people can read, from a tenth of a millisecond on. */
const INTERVALS = [
  ...[0.1, 1, 10, 100, SECOND].flatMap((unit) => [unit, 2 * unit, 5 * unit]),
  ...[10, 15, 30].map((count) => count * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
  ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
];

/** Round times from 0 to the end of a run: at most `maxTicks` besides the first. */
export function makeTicks(duration: number, maxTicks: number): number[] {
  if (duration <= 0 || maxTicks < 1) return [0];
  const minStep = duration / maxTicks;
  // A little less is enough: 0.1 × 3 is more than 0.3.
  const interval = INTERVALS.find((each) => each >= minStep * 0.999999) ??
    Math.ceil(minStep / DAY) * DAY;
  const count = Math.floor(duration / interval + 1e-9);
  return Array.from({ length: count + 1 }, (_, index) => index * interval);
}

/** A row of the waterfall: a job or a step, by its index in the data. */
export interface Row {
  readonly kind: "job" | "step";
  readonly index: number;
  /** From 1, which is a job. */
  readonly level: number;
  /** Whether the rows below it are hidden; absent if there are none. */
  readonly isFolded?: boolean;
  /** Its position among its siblings, from 1, and their number. */
  position: number;
  of: number;
}

/** A job or step, and so the row that shows it. */
export type RowTarget = Pick<Row, "kind" | "index">;

/** Decides which rows are shown. */
export interface RowFilter {
  readonly fits: (step: PageStep, index: number) => boolean;
  readonly fitsJob: (job: PageJob) => boolean;
  readonly isFolded: (target: RowTarget) => boolean;
}

/** Finds the jobs and steps that fit, and the rows that contain them; counts the steps of jobs. */
export function findRows({ jobs, steps }: PageData, filter: RowFilter) {
  const { shown, count } = findSteps(steps, filter.fits);
  const rows: Row[] = [];
  /** The open rows around the next one: their children, and whether those are hidden. */
  const around: { readonly children: Row[]; readonly isHidden: boolean }[] = [
    { children: [], isHidden: false },
  ];
  const groups = [around[0]!.children];
  const addRow = (target: RowTarget, level: number, hasChildren: boolean) => {
    around.length = level;
    const { children, isHidden } = around.at(-1)!;
    const isFolded = hasChildren ? filter.isFolded(target) : undefined;
    around.push({ children: [], isHidden: isHidden || isFolded === true });
    groups.push(around.at(-1)!.children);
    if (isHidden) return;
    const row = { ...target, level, isFolded, position: children.length + 1, of: 0 };
    children.push(row);
    rows.push(row);
  };
  let at = 0;
  for (const [job, each] of jobs.entries()) {
    const first = at;
    while (at < shown.length && steps[shown[at]!]!.job === job) at++;
    const found = shown.slice(first, at);
    if (found.length === 0 && !filter.fitsJob(each)) continue;
    addRow({ kind: "job", index: job }, 1, found.length > 0);
    for (const [position, index] of found.entries()) {
      const { depth } = steps[index]!;
      const next = found[position + 1];
      const hasChildren = next !== undefined && steps[next]!.depth > depth;
      addRow({ kind: "step", index }, depth + 2, hasChildren);
    }
  }
  for (const siblings of groups) {
    for (const row of siblings) row.of = siblings.length;
  }
  return { rows, count };
}

/** The indexes of the steps that fit and of those that contain them. */
function findSteps(steps: PageData["steps"], fits: RowFilter["fits"]) {
  const shown: number[] = [];
  let count = 0;
  let depth = 0;
  // A step comes after those that contain it, so they follow it on the way back.
  for (let index = steps.length - 1; index >= 0; index--) {
    const step = steps[index]!;
    if (!fits(step, index) && step.depth >= depth) continue;
    shown.push(index);
    if (step.depth === 0) count += step.runs ?? 1;
    depth = step.depth;
  }
  return { shown: shown.reverse(), count };
}
