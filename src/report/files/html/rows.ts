/// <reference lib="dom" />
import type { MakeElement } from "./element.ts";
import type { PageData } from "./page_data.ts";

/** A row of the waterfall: a job or a step, by its index in the data. */
export interface Row {
  readonly kind: "job" | "step";
  readonly index: number;
}

/** The list of rows on the page. */
export interface Rows {
  readonly show: (rows: readonly Row[]) => void;
  /** Selects a row and brings it into sight. */
  readonly select: (position: number) => void;
}

/** Draws rows as they scroll into view, so that ten thousand are as fast as ten. */
export function makeRows(
  list: HTMLElement,
  data: PageData,
  el: MakeElement,
  onSelect: (row: Row) => void,
): Rows {
  const HEIGHT = 28;
  const BEYOND = 10;
  const ICONS = { passed: "✓", failed: "✗", skipped: "»", untested: "△", unfinished: "…" };
  let rows: readonly Row[] = [];
  let selected = -1;
  const space = el("div", { role: "presentation", class: "space" });
  list.append(space);

  const percent = (milliseconds: number) => `${milliseconds / Math.max(1, data.duration) * 100}%`;

  const rowElement = ({ kind, index }: Row, position: number) => {
    const item = kind === "job" ? data.jobs[index]! : data.steps[index]!;
    const { name, state, duration, start } = item;
    const critical = "critical" in item && item.critical;
    const flaky = "flaky" in item && item.flaky;
    const time = duration < 1000
      ? `${duration.toFixed(0)} ms`
      : `${(duration / 1000).toFixed(2)} s`;
    const bar = el("span", { class: `bar ${state}${critical ? " critical" : ""}` });
    if (start !== undefined) {
      bar.style.left = percent(start);
      bar.style.width = percent(duration);
    }
    const label = el(
      "span",
      { class: "name" },
      el("span", { class: `icon ${state}`, "aria-label": state }, ICONS[state]),
      ` ${name}`,
      ...flaky ? [el("span", { class: "tag" }, "flaky")] : [],
      ...critical ? [el("span", { class: "tag" }, "critical path")] : [],
    );
    if ("depth" in item) label.style.paddingLeft = `${1.5 + item.depth}em`;
    const element = el(
      "div",
      {
        role: "option",
        id: `row-${position}`,
        class: `row ${kind}`,
        "aria-selected": String(position === selected),
        "aria-posinset": String(position + 1),
        "aria-setsize": String(rows.length),
      },
      label,
      el("span", { class: "track", "aria-hidden": "true" }, bar),
      el("span", { class: "time" }, start === undefined ? "" : time),
    );
    element.style.top = `${position * HEIGHT}px`;
    element.addEventListener("click", () => select(position));
    return element;
  };

  const draw = () => {
    const first = Math.max(0, Math.floor(list.scrollTop / HEIGHT) - BEYOND);
    const last = Math.ceil((list.scrollTop + list.clientHeight) / HEIGHT) + BEYOND;
    space.replaceChildren(
      ...rows.slice(first, last).map((row, offset) => rowElement(row, first + offset)),
    );
    if (document.getElementById(`row-${selected}`)) {
      list.setAttribute("aria-activedescendant", `row-${selected}`);
    } else list.removeAttribute("aria-activedescendant");
  };

  const select = (position: number) => {
    const row = rows[position];
    if (!row) return;
    selected = position;
    const top = position * HEIGHT;
    if (top < list.scrollTop) list.scrollTop = top;
    else if (top + HEIGHT > list.scrollTop + list.clientHeight) {
      list.scrollTop = top + HEIGHT - list.clientHeight;
    }
    draw();
    onSelect(row);
  };

  list.addEventListener("scroll", draw, { passive: true });
  addEventListener("resize", draw);
  list.addEventListener("keydown", (event) => {
    const page = Math.max(1, Math.floor(list.clientHeight / HEIGHT) - 1);
    const moves: Record<string, number> = {
      ArrowDown: selected + 1,
      ArrowUp: selected - 1,
      PageDown: selected + page,
      PageUp: selected - page,
      Home: 0,
      End: rows.length - 1,
    };
    const to = moves[event.key];
    if (to === undefined) return;
    event.preventDefault();
    select(Math.max(0, Math.min(rows.length - 1, to)));
  });

  return {
    show(shown) {
      rows = shown;
      selected = -1;
      space.style.height = `${Math.max(1, rows.length) * HEIGHT}px`;
      list.scrollTop = 0;
      draw();
    },
    select,
  };
}
