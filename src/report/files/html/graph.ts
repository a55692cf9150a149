/// <reference lib="dom" />
import type { PageJob } from "./page_data.ts";

/** Draws the jobs and what they need, from left to right. */
export function drawGraph(
  jobs: readonly PageJob[],
  pick: (job: number) => void,
): SVGSVGElement {
  const WIDTH = 180;
  const HEIGHT = 34;
  const GAP_X = 56;
  const GAP_Y = 14;
  const ICONS = { passed: "✓", failed: "✗", skipped: "»", unfinished: "…" };
  const make = (tag: string, attributes: Readonly<Record<string, string | number>>) => {
    const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) {
      element.setAttribute(name, String(value));
    }
    return element;
  };

  const indexes = new Map(jobs.map(({ id }, index) => [id, index]));
  const levels: number[] = [];
  const levelOf = (index: number): number => {
    const known = levels[index];
    if (known !== undefined) return known;
    const needs = jobs[index]!.needs.flatMap((id) => indexes.get(id) ?? []);
    return levels[index] = Math.max(-1, ...needs.map(levelOf)) + 1;
  };
  const rows: number[] = [];
  const places = jobs.map((_, index) => {
    const level = levelOf(index);
    const row = rows[level] ?? 0;
    rows[level] = row + 1;
    return { x: level * (WIDTH + GAP_X) + 4, y: row * (HEIGHT + GAP_Y) + 4 };
  });

  const width = rows.length * (WIDTH + GAP_X) - GAP_X + 8;
  const height = Math.max(1, ...rows) * (HEIGHT + GAP_Y) - GAP_Y + 8;
  const svg = make("svg", { width, height, viewBox: `0 0 ${width} ${height}`, class: "graph" });
  const lines = make("g", { "aria-hidden": "true" });
  svg.append(lines);
  jobs.forEach((job, index) => {
    const to = places[index]!;
    for (const id of job.needs) {
      const need = indexes.get(id);
      const from = need === undefined ? undefined : places[need];
      if (need === undefined || !from) continue;
      const [x1, y1] = [from.x + WIDTH, from.y + HEIGHT / 2];
      const [x2, y2] = [to.x, to.y + HEIGHT / 2];
      const isCritical = job.critical && jobs[need]!.critical;
      lines.append(make("path", {
        d: `M${x1} ${y1}C${x1 + GAP_X / 2} ${y1} ${x2 - GAP_X / 2} ${y2} ${x2} ${y2}`,
        class: isCritical ? "edge critical" : "edge",
      }));
    }
    const box = make("g", {
      class: `job ${job.state}${job.critical ? " critical" : ""}`,
      role: "button",
      tabindex: 0,
      "aria-label": `Job ${job.name}, ${job.state}${job.critical ? ", on the critical path" : ""}`,
    });
    const title = make("title", {});
    title.textContent = job.name;
    const text = make("text", { x: to.x + 10, y: to.y + HEIGHT / 2 + 5 });
    const name = [...job.name];
    text.textContent = `${ICONS[job.state]} ${
      name.length > 20 ? `${name.slice(0, 19).join("")}…` : job.name
    }`;
    box.append(title, make("rect", { ...to, width: WIDTH, height: HEIGHT, rx: 6 }), text);
    box.addEventListener("click", () => pick(index));
    box.addEventListener("keydown", (event) => {
      if (!(event instanceof KeyboardEvent) || event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      pick(index);
    });
    svg.append(box);
  });
  return svg as SVGSVGElement;
}
