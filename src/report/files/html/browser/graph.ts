import type { PageJob } from "../page_data.ts";
import type { PageDocument, PageElement } from "./dom.ts";
import type { layOutGraph } from "./graph_layout.ts";

declare const document: PageDocument;

/** Draws the jobs and what they need, from left to right. */
export function drawGraph(
  jobs: readonly PageJob[],
  layOut: typeof layOutGraph,
  pick: (job: number) => void,
): PageElement {
  const SIZES = { width: 180, height: 28, gapX: 44, gapY: 9, lane: 2 };
  const MARGIN = 4;
  const MOST_LETTERS = 21;
  const ICONS = { passed: "✓", failed: "✗", skipped: "-", unfinished: "…" };
  const make = (
    tag: string,
    attributes: Readonly<Record<string, string | number>>,
    ...children: (PageElement | string)[]
  ) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) {
      element.setAttribute(name, String(value));
    }
    element.append(...children);
    return element;
  };

  const indexes = new Map(jobs.map(({ id }, index) => [id, index]));
  const needs = jobs.map((job) => job.needs.flatMap((id) => indexes.get(id) ?? []));
  const isCritical = (need: number, job: number) =>
    jobs[need]!.critical !== undefined && jobs[need]!.critical + 1 === jobs[job]!.critical;
  const { width, height, boxes, lines } = layOut(needs, SIZES, isCritical);

  const lineElement = ({ from: [x1, y1], to: [x2, y2], source, leadsTo }: typeof lines[number]) => {
    const half = (x2 - x1) / 2;
    return make("path", {
      d: `M${x1} ${y1}C${x1 + half} ${y1} ${x2 - half} ${y2} ${x2} ${y2}`,
      class: leadsTo.some((job) => isCritical(source, job)) ? "edge critical" : "edge",
    });
  };

  const boxElement = ({ name, state, critical }: PageJob, index: number) => {
    const { x, y } = boxes[index]!;
    const { width, height } = SIZES;
    const letters = [...name.replace(/\s+/g, " ")];
    const label = letters.length > MOST_LETTERS
      ? `${letters.slice(0, MOST_LETTERS - 1).join("")}…`
      : letters.join("");
    return make(
      "g",
      {
        class: `job ${state}${critical ? " critical" : ""}`,
        role: "button",
        tabindex: index === 0 ? 0 : -1,
        "aria-label": `Job ${name}, ${state}${critical ? ", on the critical path" : ""}`,
      },
      make("title", {}, name),
      make("rect", { x, y, width, height, rx: 6 }),
      // A picture of its own cuts off what is wider than the box.
      make(
        "svg",
        { x: x + 10, y, width: width - 14, height },
        make("text", { x: 0, y: height / 2 + 5 }, `${ICONS[state]} ${label}`),
      ),
    );
  };

  /** The jobs of each column, from top to bottom. */
  const columns: number[][] = [];
  for (const [job, { level }] of boxes.entries()) (columns[level] ??= []).push(job);
  for (const column of columns) column.sort((a, b) => boxes[a]!.y - boxes[b]!.y);

  /** The job that a key leads to. */
  const next = (job: number, key: string): number | undefined => {
    const { level, y } = boxes[job]!;
    const column = columns[level]!;
    const nearest = (others: readonly number[] = []) =>
      others.toSorted((a, b) => Math.abs(boxes[a]!.y - y) - Math.abs(boxes[b]!.y - y))[0];
    switch (key) {
      case "ArrowDown":
        return column[column.indexOf(job) + 1];
      case "ArrowUp":
        return column[column.indexOf(job) - 1];
      case "ArrowLeft":
        return nearest(columns[level - 1]);
      case "ArrowRight":
        return nearest(columns[level + 1]);
      case "Home":
        return columns[0]![0];
      case "End":
        return columns.at(-1)!.at(-1);
      default:
        return undefined;
    }
  };

  // One Tab stop for the whole graph: arrow keys move within it.
  const elements = jobs.map(boxElement);
  let stop = 0;
  const moveTo = (job: number) => {
    elements[stop]!.setAttribute("tabindex", "-1");
    elements[job]!.setAttribute("tabindex", "0");
    stop = job;
  };
  elements.forEach((element, job) => {
    element.addEventListener("click", () => {
      moveTo(job);
      pick(job);
    });
    element.addEventListener("keydown", (event) => {
      if (event.altKey || event.ctrlKey || event.metaKey) return;
      const to = next(job, event.key);
      if (event.key === "Enter" || event.key === " ") pick(job);
      else if (to !== undefined) {
        moveTo(to);
        elements[to]!.focus();
      } else if (!event.key.startsWith("Arrow")) return;
      event.preventDefault();
    });
  });

  const [w, h] = [width + 2 * MARGIN, height + 2 * MARGIN];
  return make(
    "svg",
    {
      width: w,
      height: h,
      viewBox: `${-MARGIN} ${-MARGIN} ${w} ${h}`,
      class: "graph",
      role: "group",
      "aria-label": "Jobs and what they need",
    },
    make("g", { "aria-hidden": "true" }, ...lines.map(lineElement)),
    ...elements,
  );
}
