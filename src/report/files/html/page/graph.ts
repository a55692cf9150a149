import type { PageJob } from "../page_data.ts";
import { addEventListener, el, find, hasModifier, type PageElement, show } from "./dom.ts";
import { type GraphLine, layOutGraph, SIZES } from "./graph_layout.ts";
import { ICONS } from "./waterfall.ts";

const MARGIN = 4;
const MAX_LETTERS = 21;

/** Larger graphs are slow, and nobody can read them. */
const MAX_DRAWN = 1000;

/** Shows the graph, and whether there is more of it than is seen. */
export function showGraph(jobs: readonly PageJob[], onSelect: (job: number) => void): void {
  const graph = find("graph");
  if (jobs.length === 0) return;
  if (jobs.length > MAX_DRAWN) return show(graph, `More than ${MAX_DRAWN} jobs are not drawn.`);
  show(graph, drawGraph(jobs, onSelect));
  const [note, part] = [find("graph-note"), find("graph-part")];
  const check = () => {
    const scrolls = graph.scrollWidth > graph.clientWidth ||
      graph.scrollHeight > graph.clientHeight;
    note.textContent = part.open && scrolls ? " · scroll for more" : "";
  };
  addEventListener("resize", check);
  part.addEventListener("toggle", check);
  check();
}

/** Draws the jobs and what they need, from left to right. */
function drawGraph(
  jobs: readonly PageJob[],
  onSelect: (job: number) => void,
): PageElement {
  const indexes = new Map(jobs.map(({ id }, index) => [id, index]));
  const needs = jobs.map((job) => job.needs.flatMap((id) => indexes.get(id) ?? []));
  const isCritical = (need: number, job: number) =>
    jobs[need]!.critical !== undefined && jobs[need]!.critical + 1 === jobs[job]!.critical;
  const { width, height, boxes, lines } = layOutGraph(needs);

  const linesIf = (shown: boolean) =>
    lines.filter(({ need, job }) => isCritical(need, job) === shown).map(lineElement);

  const elements = jobs.map((job, index) => boxElement(job, boxes[index]!));
  elements[0]?.setAttribute("tabindex", "0");

  /** The jobs by column, each from top to bottom. */
  const ordered = [...jobs.keys()].sort((a, b) =>
    boxes[a]!.level - boxes[b]!.level || boxes[a]!.y - boxes[b]!.y
  );

  /** The job that a key leads to. */
  const next = (job: number, key: string): number | undefined => {
    const position = ordered.indexOf(job);
    if (key === "ArrowDown" || key === "ArrowRight") return ordered[position + 1];
    if (key === "ArrowUp" || key === "ArrowLeft") return ordered[position - 1];
    if (key === "Home") return ordered[0];
    return key === "End" ? ordered.at(-1) : undefined;
  };

  // One Tab stop for the whole graph: arrow keys move within it.
  let stop = 0;
  const moveTo = (job: number) => {
    elements[stop]!.setAttribute("tabindex", "-1");
    elements[job]!.setAttribute("tabindex", "0");
    stop = job;
  };
  for (const [job, element] of elements.entries()) {
    element.addEventListener("click", () => {
      moveTo(job);
      onSelect(job);
    });
    element.addEventListener("keydown", (event) => {
      if (hasModifier(event)) return;
      const target = next(job, event.key);
      if (event.key === "Enter" || event.key === " ") onSelect(job);
      else if (target !== undefined) {
        moveTo(target);
        elements[target]!.focus();
      } else if (!event.key.startsWith("Arrow")) return;
      event.preventDefault();
    });
  }

  const [outerWidth, outerHeight] = [width + 2 * MARGIN, height + 2 * MARGIN];
  return el(
    "svg:svg.graph",
    {
      width: outerWidth,
      height: outerHeight,
      viewBox: `${-MARGIN} ${-MARGIN} ${outerWidth} ${outerHeight}`,
      role: "group",
      "aria-label": "Jobs and what they need",
    },
    el("svg:g.edges", { "aria-hidden": "true" }, linesIf(false)),
    el("svg:g.edges.critical", { "aria-hidden": "true" }, linesIf(true)),
    elements,
  );
}

/** Curves between columns, and straight lines through them. */
function lineElement({ points: [start = [0, 0], ...points] }: GraphLine): PageElement {
  let path = `M${start.join(" ")}`;
  let [x, y] = start;
  for (const [nextX, nextY] of points) {
    const half = (x + nextX) / 2;
    path += y === nextY ? `H${nextX}` : `C${half} ${y} ${half} ${nextY} ${nextX} ${nextY}`;
    [x, y] = [nextX, nextY];
  }
  return el("svg:path.edge", { d: path });
}

function boxElement(
  { name, state, critical }: PageJob,
  { x, y }: { readonly x: number; readonly y: number },
): PageElement {
  const { width, height } = SIZES;
  const letters = [...name.replace(/\s+/g, " ")];
  const label = letters.length > MAX_LETTERS
    ? `${letters.slice(0, MAX_LETTERS - 1).join("")}…`
    : letters.join("");
  return el(
    `svg:g.job.${state}${critical ? ".critical" : ""}`,
    {
      role: "button",
      tabindex: -1,
      "aria-label": `Job ${name}, ${state}${critical ? ", on the critical path" : ""}`,
    },
    el("svg:title", name),
    el("svg:rect", { x, y, width, height, rx: 6 }),
    // The inner picture cuts off what is wider than the box.
    el(
      "svg:svg",
      { x: x + 10, y, width: width - 14, height },
      el("svg:text", { x: 0, y: height / 2 + 5 }, `${ICONS[state]} ${label}`),
    ),
  );
}
