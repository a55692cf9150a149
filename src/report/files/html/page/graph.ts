import type { PageJob } from "../page_data.ts";
import { addEventListener, el, find, hasModifier, type PageElement, show } from "./dom.ts";
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

/** The positions of the boxes of a graph and the routes of its lines. */
export interface GraphLayout {
  readonly width: number;
  readonly height: number;
  /** By job. */
  readonly boxes: readonly { readonly x: number; readonly y: number; readonly level: number }[];
  readonly lines: readonly GraphLine[];
}

/** The way from a job to one that needs it. */
export interface GraphLine {
  readonly need: number;
  readonly job: number;
  /** From the right side of a box to the left side of another, with both ends of each lane. */
  readonly points: readonly (readonly [x: number, y: number])[];
}

/** The size of boxes, the gaps between them, and the height of a line that passes others by. */
export const SIZES = { width: 180, height: 28, gapX: 44, gapY: 9, lane: 2 } as const;

const { width, height, gapX, gapY, lane } = SIZES;

/** A box, or a lane on which the lines of one job pass a column. */
interface Slot {
  readonly level: number;
  readonly source: number;
  readonly height: number;
  /** The slots in the column before it that lines connect it with. */
  readonly before: Set<Slot>;
  /** Its position in its column. */
  rank: number;
  y: number;
}

type Needs = readonly (readonly number[])[];

/**
 * Lays out jobs in columns, each to the right of all it needs. A need that others imply has no
 * line. No line runs behind a box: it passes other columns on lanes, which lines from the same job
 * share.
 */
export function layOutGraph(needs: Needs): GraphLayout {
  const levels = levelsOf(needs);
  // Each after all it needs.
  const order = [...needs.keys()].sort((a, b) => levels[a]! - levels[b]!);
  const columns: Slot[][] = [];
  const addSlot = (level: number, source: number, height: number): Slot => {
    const slot = { level, source, height, before: new Set<Slot>(), rank: 0, y: 0 };
    (columns[level] ??= []).push(slot);
    return slot;
  };
  const boxes = levels.map((level, job) => addSlot(level, job, height));
  const lanes = new Map<string, Slot>();
  const drawn = drawnNeeds(needs, order, levels);
  const routes = order.flatMap((job) =>
    drawn[job]!.map((need) => {
      const route = [boxes[need]!];
      for (let level = levels[need]! + 1; level < levels[job]!; level++) {
        const key = `${need} ${level}`;
        const slot = lanes.get(key) ?? addSlot(level, need, lane);
        lanes.set(key, slot);
        route.push(slot);
      }
      route.push(boxes[job]!);
      for (const [index, slot] of route.slice(1).entries()) slot.before.add(route[index]!);
      return { need, job, route };
    })
  );

  let total = 0;
  for (const column of columns) {
    // Connected boxes are near each other: each at the mean rank of those before it.
    for (const slot of column) {
      if (slot.before.size === 0) continue;
      slot.rank = [...slot.before].reduce((sum, { rank }) => sum + rank, 0) / slot.before.size;
    }
    column.sort((a, b) => a.rank - b.rank || a.source - b.source);
    let y = 0;
    for (const [rank, slot] of column.entries()) {
      Object.assign(slot, { rank, y });
      y += slot.height + gapY;
    }
    total = Math.max(total, y - gapY);
  }

  const left = ({ level }: Slot) => level * (width + gapX);
  const pointsOf = (slot: Slot): GraphLine["points"] => {
    const y = slot.y + slot.height / 2;
    return [[left(slot), y], [left(slot) + width, y]];
  };
  return {
    width: Math.max(0, columns.length * (width + gapX) - gapX),
    height: total,
    boxes: boxes.map((slot) => ({ x: left(slot), y: slot.y, level: slot.level })),
    lines: routes.map(({ need, job, route }) => {
      return { need, job, points: route.flatMap(pointsOf).slice(1, -1) };
    }),
  };
}

/** The length of the longest way to each job. */
function levelsOf(needs: Needs): number[] {
  const levels: number[] = [];
  const levelOf = (job: number): number =>
    levels[job] ??= Math.max(0, ...needs[job]!.map((need) => levelOf(need) + 1));
  for (const job of needs.keys()) levelOf(job);
  return levels;
}

/** The needs of each job without those that its other needs imply. */
function drawnNeeds(
  needs: Needs,
  order: readonly number[],
  levels: readonly number[],
): number[][] {
  const implied = needs.map(() => new Set<number>());
  const drawn: number[][] = needs.map(() => []);
  for (const job of order) {
    for (const need of needs[job]!.toSorted((a, b) => levels[b]! - levels[a]!)) {
      if (implied[job]!.has(need)) continue;
      drawn[job]!.push(need);
      for (const each of [need, ...implied[need]!]) implied[job]!.add(each);
    }
  }
  return drawn;
}
