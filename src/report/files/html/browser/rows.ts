import type { PageData, PageJob, PageStep } from "../page_data.ts";
import type { PageElement, PageEvent } from "./dom.ts";
import type { MakeElement } from "./element.ts";
import type { Row } from "./find_rows.ts";
import type { makeTicks } from "./make_ticks.ts";

declare function addEventListener(type: string, hear: (event: PageEvent) => void): void;

/** The list of rows on the page. */
export interface Rows {
  /** Shows other rows, of which one may stay selected. */
  readonly show: (rows: readonly Row[], selected: number) => void;
  /** Selects a row and brings it into sight. */
  readonly select: (position: number) => void;
}

/** The events of the list. */
export interface RowListeners {
  readonly onSelect: (row: Row, isClick: boolean) => void;
  readonly onFold: (row: Row, isFolded: boolean) => void;
  readonly onEnter: () => void;
}

/** Draws rows as they scroll into view, so that ten thousand are as fast as ten. */
export function makeRows(
  list: PageElement,
  axis: PageElement,
  data: PageData,
  { el, time, ticks }: {
    readonly el: MakeElement;
    readonly time: (milliseconds: number) => string;
    readonly ticks: typeof makeTicks;
  },
  { onSelect, onFold, onEnter }: RowListeners,
): Rows {
  const [HEIGHT, BEYOND, TICK_WIDTH] = [28, 10, 70];
  const ICONS = {
    passed: "✓",
    failed: "✗",
    skipped: "-",
    untested: "○",
    tolerated: "✗",
    unfinished: "…",
  };
  let rows: readonly Row[] = [];
  let selected = -1;
  const space = el("div", { role: "none", class: "space" });
  list.append(space);

  const percent = (milliseconds: number) => `${milliseconds / (data.duration || 1) * 100}%`;
  const spanOfTime = (name: string, start: number, duration: number, title?: string) => {
    const span = el("span", title === undefined ? { class: name } : { class: name, title });
    span.style.left = percent(start);
    span.style.width = percent(duration);
    return span;
  };

  const barsOf = (item: PageJob | PageStep): PageElement[] => {
    const { start, state, duration } = item;
    if (start === undefined) return [];
    if (state === "unfinished") {
      return [spanOfTime("bar unfinished", start, data.duration - start)];
    }
    const { critical } = item as PageJob;
    const { attempts, phases = [] } = item as PageStep;
    // The last response came at the end of the step.
    let from = start + duration - phases.reduce((sum, [, time]) => sum + time, 0);
    const parts = phases.map(([name, time]) => {
      const words = `${name.replace("_", " ")} ${time}ms`;
      const span = spanOfTime(`phase ${name}`, Math.max(start, from), time, words);
      from += time;
      return span;
    });
    if (!attempts) {
      const bar = spanOfTime(`bar ${state}${critical ? " critical" : ""}`, start, duration);
      return [bar, ...parts];
    }
    return [
      spanOfTime("bar waiting", start, duration),
      ...attempts.map(([from, length, outcome]) =>
        spanOfTime(`bar ${outcome === "passed" ? "passed" : "failed"}`, from, length)
      ),
      ...parts,
    ];
  };

  const rowElement = (row: Row, position: number) => {
    const { kind, index, level, isFolded } = row;
    const item = kind === "job" ? data.jobs[index]! : data.steps[index]!;
    const { name, state, duration, start } = item;
    const twist = el("span", { class: "twist", "aria-hidden": "true" });
    if (isFolded !== undefined) {
      twist.append(isFolded ? "▸" : "▾");
      twist.addEventListener("click", () => onFold(row, !isFolded));
    }
    const label = el(
      "span",
      { class: "name" },
      twist,
      el(
        "span",
        { class: `icon ${state}`, role: "img", "aria-label": state.replace("un", "not ") },
        ICONS[state],
      ),
      ` ${name.replace(/\s+/g, " ")}`,
    );
    label.style.paddingLeft = `${level - 1}em`;
    const tags = [
      ..."attempts" in item && item.attempts ? [`${item.attempts.length} attempts`] : [],
      ..."flaky" in item && item.flaky ? ["flaky"] : [],
      ..."critical" in item && item.critical ? ["critical path"] : [],
    ];
    const element = el(
      "div",
      {
        role: "treeitem",
        id: `row-${position}`,
        class: `row columns ${kind}`,
        "aria-selected": String(position === selected),
        "aria-level": String(level),
        "aria-posinset": String(row.position),
        "aria-setsize": String(row.of),
        ...isFolded === undefined ? {} : { "aria-expanded": String(!isFolded) },
      },
      el(
        "span",
        { class: "head" },
        label,
        ...tags.map((tag) => el("span", { class: `tag ${tag.split(" ")[0]}` }, tag)),
      ),
      el("span", { class: "track", "aria-hidden": "true" }, ...barsOf(item)),
      el(
        "span",
        { class: "time" },
        start === undefined || state === "unfinished" ? "" : time(duration),
      ),
    );
    element.style.top = `${position * HEIGHT}px`;
    element.addEventListener("click", (event) => {
      if (event.target !== twist || isFolded === undefined) select(position, true);
    });
    return element;
  };

  const draw = () => {
    const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - BEYOND);
    const last = Math.ceil((list.scrollTop + list.clientHeight) / HEIGHT) + BEYOND;
    space.replaceChildren(
      ...rows.slice(first, last).map((row, offset) => rowElement(row, first + offset)),
    );
    if (selected >= first && selected < Math.min(last, rows.length)) {
      list.setAttribute("aria-activedescendant", `row-${selected}`);
    } else list.removeAttribute("aria-activedescendant");
  };

  const drawAxis = () => {
    const marks = el("span", { class: "track" });
    // The rows have a scroll bar beside them.
    axis.style.marginRight = `${list.offsetWidth - list.clientWidth}px`;
    axis.replaceChildren(el("span", {}), marks, el("span", { class: "time" }));
    const found = ticks(data.duration, Math.floor(marks.clientWidth / TICK_WIDTH));
    marks.append(...found.map(({ at, label }) => {
      const mark = el("span", { class: "tick" }, label);
      mark.style.left = percent(at);
      return mark;
    }));
    // The rows draw a line at each, as their background.
    space.style.setProperty("--tick", percent(found[1]?.at ?? data.duration * 2));
  };

  const bringIntoSight = () => {
    const top = selected * HEIGHT;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + HEIGHT > list.scrollTop + list.clientHeight) {
      list.scrollTop = top + HEIGHT - list.clientHeight;
    }
  };

  const select = (position: number, isClick = false) => {
    const row = rows[position];
    if (!row) return;
    selected = position;
    bringIntoSight();
    draw();
    onSelect(row, isClick);
  };

  /** Where a key leads to, or whether it folds or unfolds the selected row. */
  const answer = (key: string): number | "fold" | "unfold" | undefined => {
    const page = Math.max(1, Math.floor(list.clientHeight / HEIGHT) - 1);
    const row = rows[selected];
    switch (key) {
      case "ArrowDown":
        return selected + 1;
      case "ArrowUp":
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
        let parent = selected;
        while (parent > 0 && rows[parent]!.level >= row.level) parent--;
        return row.level === 1 ? selected : parent;
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
  list.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const to = answer(event.key);
    if (event.key === "Enter" && rows[selected]) onEnter();
    else if (to === undefined) return;
    else if (typeof to === "number") select(Math.max(0, Math.min(rows.length - 1, to)));
    else if (rows[selected]) onFold(rows[selected]!, to === "fold");
    event.preventDefault();
  });
  drawAxis();

  return {
    show(shown, now) {
      rows = shown;
      selected = now;
      space.style.height = `${rows.length * HEIGHT}px`;
      if (now < 0) list.scrollTop = 0;
      else bringIntoSight();
      draw();
    },
    select,
  };
}
