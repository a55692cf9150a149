import { el, type PageElement } from "./dom.ts";

/** An axis; its values begin at `from`, which is 0 by default. */
interface Axis {
  readonly from?: number;
  readonly to: number;
  readonly ticks: readonly number[];
  /** A value with its unit. */
  readonly format: (value: number) => string;
}

/** The colour of a line: a class of the style. */
type Tone = "good" | "bad" | "note" | "warn" | "muted" | "extra";

/** A line of a chart; there is a gap where it has no value. */
interface Line {
  readonly name: string;
  readonly tone: Tone;
  readonly isDashed?: true;
  readonly points: readonly (readonly [x: number, y: number | undefined])[];
  /** Draws each point, with a class of its own. */
  readonly marks?: readonly string[];
}

/** A stage in the background. */
interface Band {
  readonly from: number;
  readonly to: number;
  readonly label: string;
  /** What happens in it does not count. */
  readonly isIdle?: true;
}

interface ChartFrame {
  /** Its name, also for assistive technology. */
  readonly title: string;
  /** In pixels. */
  readonly width: number;
  readonly x: Axis;
  readonly y: Axis;
}

/** Lines over a common axis, most often of time. */
export interface LineChart extends ChartFrame {
  readonly lines: readonly Line[];
  readonly bands?: readonly Band[];
}

const [LEFT, RIGHT, TOP, BOTTOM, HEIGHT] = [56, 12, 18, 22, 170];

/** The width of a letter of a label. */
const LETTER = 6.5;

/** Draws lines; the legend shows their values where the pointer is. */
export function lineChart(chart: LineChart): PageElement {
  return lineCharts([chart])[0]!;
}

/** Draws charts that have the same axis: all show their values where the pointer is in one. */
export function lineCharts(charts: readonly LineChart[]): PageElement[] {
  const drawn = charts.map(drawLines);
  for (const { chart, find } of drawn) {
    chart.addEventListener("pointermove", ({ offsetX }) => {
      const at = find(offsetX);
      if (at !== undefined) { for (const { point } of drawn) point(at); }
    });
  }
  return drawn.map(({ element }) => element);
}

function drawLines({ lines, bands = [], ...frame }: LineChart) {
  const { x, y } = frame;
  const place = placesOf(frame);
  const values = lines.map(() => el("strong"));
  const cursor = el("svg:line.cursor", { y1: TOP, y2: HEIGHT - BOTTOM, visibility: "hidden" });
  const chart = drawFrame(
    frame,
    bands.map(({ from, to, label, isIdle }, index) => {
      const width = place.x(to) - place.x(from);
      return [
        el(
          `svg:rect.band${isIdle ? ".idle" : index % 2 === 0 ? "" : ".odd"}`,
          { x: place.x(from), y: TOP, width, height: HEIGHT - TOP - BOTTOM },
          el("svg:title", label),
        ),
        label.length * LETTER < width &&
        el("svg:text", { x: place.x(from) + 4, y: TOP - 5 }, label),
      ];
    }),
    [
      lines.map(({ tone, points, isDashed }) =>
        el(`svg:path.line.${tone}`, { d: pathOf(points, place), "stroke-dasharray": isDashed && 5 })
      ),
      lines.map(({ points, marks = [] }) =>
        points.map(([at, value], index) =>
          marks[index] !== undefined && value !== undefined &&
          el(`svg:circle.${marks[index]}`, { cx: place.x(at), cy: place.y(value), r: 3 })
        )
      ),
      cursor,
    ],
    describe(lines, y),
  );
  const status = el("span.muted");
  const point = (at: number) => {
    cursor.setAttribute("visibility", "visible");
    for (const end of ["x1", "x2"]) cursor.setAttribute(end, String(place.x(at)));
    status.textContent = x.format(at);
    for (const [index, { points }] of lines.entries()) {
      const value = points.find(([x]) => x === at)?.[1];
      values[index]!.textContent = value === undefined ? "" : ` ${y.format(value)}`;
    }
  };
  const legend = lines.map(({ name, tone }, index) =>
    el("li", el(`span.dot.${tone}`), name, values[index])
  );
  return {
    chart,
    element: figure(frame.title, chart, [...legend, el("li", status)]),
    /** The value of the axis with points that is nearest to a pixel. */
    find: (pixel: number) =>
      nearest(lines.flatMap(({ points }) => points.map(([at]) => at)), place.back(pixel)),
    point,
  };
}

/** The distribution of times: how many are in equal parts of the axis, with lines at some values. */
export interface Distribution extends ChartFrame {
  readonly counts: readonly number[];
  readonly lines: readonly { readonly name: string; readonly tone: Tone; readonly at: number }[];
}

export function histogram({ counts, lines, ...frame }: Distribution): PageElement {
  const { x: { from = 0, to, format } } = frame;
  const place = placesOf(frame);
  const part = (to - from) / counts.length;
  const bars = counts.map((count, index) => {
    const [start, end] = [from + index * part, from + (index + 1) * part];
    const left = place.x(start);
    return count > 0 && el(
      "svg:rect.count",
      {
        ...{ x: left, y: place.y(count), height: HEIGHT - BOTTOM - place.y(count) },
        width: Math.max(1, place.x(end) - left - 1),
      },
      el("svg:title", `${format(start)} to ${format(end)}: ${count}`),
    );
  });
  const marks = lines.map(({ tone, at }) =>
    el(`svg:line.line.${tone}`, {
      ...{ x1: place.x(at), x2: place.x(at), y1: TOP, y2: HEIGHT - BOTTOM, "stroke-dasharray": 4 },
    })
  );
  const legend = lines.map(({ name, tone, at }) =>
    el("li", el(`span.dot.${tone}`), name, el("strong", ` ${format(at)}`))
  );
  const label = lines.map(({ name, at }) => `${name} ${format(at)}`).join(", ");
  return figure(frame.title, drawFrame(frame, [], [bars, marks], label), legend);
}

/** Round numbers from 0 on, the last of which is not below `max`. */
export function numberTicks(max: number, count = 4): number[] {
  const least = (max || 1) / count;
  const power = 10 ** Math.floor(Math.log10(least));
  const step = [1, 2, 5, 10].find((one) => one * power >= least * 0.999999)! * power;
  return Array.from(
    { length: Math.ceil((max || 1) / step - 1e-9) + 1 },
    (_, index) => index * step,
  );
}

/** The pixels of values, and the value of a pixel. */
function placesOf({ width, x, y }: ChartFrame) {
  const [across, up] = [width - LEFT - RIGHT, HEIGHT - TOP - BOTTOM];
  const { from = 0 } = x;
  const range = x.to - from || 1;
  return {
    x: (value: number) => round(LEFT + (value - from) / range * across),
    y: (value: number) => round(HEIGHT - BOTTOM - (value - (y.from ?? 0)) / (y.to || 1) * up),
    back: (pixel: number) => from + (pixel - LEFT) / across * range,
  };
}

function round(pixel: number): number {
  return Math.round(pixel * 10) / 10;
}

function nearest(values: readonly number[], wanted: number): number | undefined {
  return values.reduce<number | undefined>(
    (best, value) =>
      best === undefined || Math.abs(value - wanted) < Math.abs(best - wanted) ? value : best,
    undefined,
  );
}

/** The line through points; one that stands alone is a dot. */
function pathOf(points: Line["points"], place: ReturnType<typeof placesOf>): string {
  let isOpen = false;
  return points.map(([x, y]) => {
    if (y === undefined) return isOpen = false, "";
    const [command, dot] = isOpen ? ["L", ""] : ["M", "h0"];
    isOpen = true;
    return `${command}${place.x(x)} ${place.y(y)}${dot}`;
  }).join("");
}

/** The lowest, highest and last value of each line. */
function describe(lines: readonly Line[], { format }: Axis): string {
  return lines.map(({ name, points }) => {
    const values = points.flatMap(([, value]) => value ?? []);
    if (values.length === 0) return `${name}: none`;
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return `${name}: ${format(low)} to ${format(high)}, last ${format(values.at(-1)!)}`;
  }).join("; ");
}

type Parts = Parameters<typeof el>[1];

function drawFrame(frame: ChartFrame, behind: Parts, content: Parts, label: string): PageElement {
  const { title, width, x, y } = frame;
  const place = placesOf(frame);
  const bottom = HEIGHT - BOTTOM;
  return el(
    "svg:svg.chart",
    {
      width,
      height: HEIGHT,
      viewBox: `0 0 ${width} ${HEIGHT}`,
      role: "img",
      "aria-label": `${title}. ${label}`,
    },
    behind,
    y.ticks.map((tick) => [
      el("svg:line.grid", { x1: LEFT, x2: width - RIGHT, y1: place.y(tick), y2: place.y(tick) }),
      el("svg:text.end", { x: LEFT - 6, y: place.y(tick) + 4 }, y.format(tick)),
    ]),
    x.ticks.map((tick, index) =>
      el(
        `svg:text${index === 0 ? "" : tick === x.to ? ".end" : ".middle"}`,
        { x: place.x(tick), y: bottom + 16 },
        x.format(tick),
      )
    ),
    content,
  );
}

function figure(title: string, chart: PageElement, legend: readonly PageElement[]): PageElement {
  return el("figure.chart-figure", el("figcaption", title), chart, el("ul.legend", legend));
}
