import { formatDuration, formatElapsed } from "../../../../base/value/duration.ts";
import type { LoadCurves, PageLoad, TimeDistribution } from "../page_data.ts";
import { histogram, type LineChart, lineCharts, numberTicks } from "./chart.ts";
import { type Content, el, type PageElement, row, section, table } from "./dom.ts";
import { ICONS, makeTicks } from "./waterfall.ts";

/** The classes of a table of numbers. */
const NUMBERS = "plain.numbers";

/** What a load job did; `linkTo` makes the address of a step by its key. */
export function loadParts(
  load: PageLoad,
  width: number,
  linkTo: (key: string) => string,
): Content {
  const { summary, warnings, stopped, thresholds, numbers, distributions, curves } = load;
  return [
    summary !== undefined && el("p", summary),
    stopped !== undefined && el("p.flaky", `ended early: ${stopped}`),
    warnings.map((text) => el("p.flaky", text)),
    thresholds.length > 0 && section(
      "Thresholds",
      el(
        "ul.thresholds",
        thresholds.map(({ text, passed, value }) => {
          const state = passed ? "passed" : "failed";
          const icon = el(`span.icon.${state}`, { role: "img", "aria-label": state }, ICONS[state]);
          return el("li", icon, " ", el("code", text), " ", el("strong", value));
        }),
      ),
    ),
    numbers.length > 0 && section(
      "Rounds and steps",
      table(
        ["step", "count", "rate", "p50", "p95", "p99", "max", "failed"],
        numbers.map(([name, ...cells]) =>
          el("tr", el("th", { scope: "row" }, name), cells.map((cell) => el("td", cell)))
        ),
        NUMBERS,
      ),
    ),
    causesOf(load, linkTo),
    curves.at.length > 0 &&
    section("Over time", lineCharts(chartsOf(load, width)), numbersOf(curves)),
    distributions.length > 0 &&
    section("Distribution of times", distributions.map((one) => distributionChart(one, width))),
  ];
}

function causesOf({ causes, otherFailures }: PageLoad, linkTo: (key: string) => string): Content {
  if (causes.length === 0) return [];
  const items = causes.map(({ step, message, count, from: first, to: last, row }) => {
    const [from, to] = [formatTime(first), formatTime(last)];
    const times = from === to ? `at ${from}` : `from ${from} to ${to}`;
    return el(
      "li",
      el("strong.failed", message),
      el("p.muted", `${step} · ${count === 1 ? "once" : `${count} times`}, ${times}`),
      el("a", { href: linkTo(row) }, "The first of them"),
    );
  });
  const others = otherFailures !== undefined && el("p", `… and ${otherFailures} of other causes`);
  return section("Causes of failures", el("ol.causes", items), others);
}

type Lines = LineChart["lines"];

/** The curves, in charts with the same axis of time. */
function chartsOf({ curves, stages: bands }: PageLoad, width: number): LineChart[] {
  const { at, end } = curves;
  const ticks = makeTicks(end, Math.floor(width / 110));
  const x = { to: end, ticks, format: formatTime };
  // One point is a line, over the time that it is about.
  const times = at.length === 1 ? [0, end] : at;
  const lineOf = (
    name: string,
    column: LoadCurves["rate"] | undefined,
    tone: Lines[number]["tone"],
    isDashed?: true,
  ): Lines => {
    if (!column) return [];
    const valueOf = (index: number) => column[Math.min(index, at.length - 1)] ?? undefined;
    const points = times.map((time, index) => [time, valueOf(index)] as const);
    return [{ name, tone, isDashed, points }];
  };
  const chart = (
    title: string,
    format: (value: number) => string,
    ticksTo: (most: number) => number[],
    ...lines: readonly Lines[]
  ): LineChart[] => {
    const shown = lines.flat();
    const most = Math.max(...shown.flatMap(({ points }) => points.map(([, value = 0]) => value)));
    const ticks = ticksTo(most);
    const y = { to: Math.max(most, ticks.at(-1)!), ticks, format };
    return shown.length > 0 ? [{ title, width, x, y, bands, lines: shown }] : [];
  };
  return [
    chart(
      "Rounds per second",
      formatRate,
      numberTicks,
      lineOf("asked", curves.asked, "muted", true),
      lineOf("achieved", curves.rate, "note"),
    ),
    chart(
      "Time of a round",
      formatElapsed,
      (most) => makeTicks(most * 1.1, 4),
      lineOf("p50", curves.p50, "good"),
      lineOf("p95", curves.p95, "warn"),
      lineOf("p99", curves.p99, "bad", true),
    ),
    chart(
      curves.dropped || curves.late
        ? "Failed, dropped and late rounds per second"
        : "Failed rounds per second",
      formatRate,
      numberTicks,
      lineOf("failed", curves.failed, "bad"),
      lineOf("dropped", curves.dropped, "warn", true),
      lineOf("late", curves.late, "extra", true),
    ),
    chart(
      curves.users ? "Users" : "Rounds under way",
      formatNumber,
      numberTicks,
      lineOf("users", curves.users, "extra"),
      lineOf("rounds under way", curves.inFlight, "note", curves.users && true),
    ),
  ].flat();
}

/** The columns of the table of all points. */
const COLUMNS: readonly (readonly [
  title: string,
  key: Exclude<keyof LoadCurves, "end" | "at">,
  format: (value: number) => string,
])[] = [
  ["asked", "asked", formatRate],
  ["achieved", "rate", formatRate],
  ["p50", "p50", formatElapsed],
  ["p95", "p95", formatElapsed],
  ["p99", "p99", formatElapsed],
  ["failed", "failed", formatRate],
  ["dropped", "dropped", formatRate],
  ["late", "late", formatRate],
  ["users", "users", formatNumber],
  ["under way", "inFlight", formatNumber],
];

/** The numbers of the curves, which are put on the page when somebody unfolds them. */
function numbersOf(curves: LoadCurves): PageElement {
  const columns = COLUMNS.filter(([, key]) => curves[key]);
  const part = el("details.part", el("summary", el("h3", "The numbers of the curves")));
  part.addEventListener("toggle", () => {
    if (part.childElementCount > 1) return;
    const numbers = table(
      ["time", ...columns.map(([title]) => title)],
      curves.at.map((time, index) =>
        row([
          formatTime(time),
          ...columns.map(([, key, format]) => {
            const value = curves[key]![index];
            return value === null ? "" : format(value!);
          }),
        ])
      ),
      NUMBERS,
    );
    numbers.setAttribute("tabindex", "0");
    part.append(numbers);
  });
  return part;
}

/** The distribution of times as a chart. */
export function distributionChart(
  { name, count, counts, min, max, p50, p95, p99 }: TimeDistribution,
  width: number,
): PageElement {
  const scale = (time: number) => Math.log(Math.max(time, 0.001));
  const [from, to] = [scale(min), scale(max)];
  const ticks = numberTicks(Math.max(...counts));
  return histogram({
    title: `${name}: ${formatNumber(count)} times, on a logarithmic axis`,
    width,
    x: {
      ...{ from, to },
      ticks: [0, 0.25, 0.5, 0.75, 1].map((part) => from + part * (to - from)),
      format: (value) => formatElapsed(Math.exp(value)),
    },
    y: { to: ticks.at(-1)!, ticks, format: formatNumber },
    counts,
    lines: [
      { name: "p50", tone: "good", at: scale(p50) },
      { name: "p95", tone: "warn", at: scale(p95) },
      { name: "p99", tone: "bad", at: scale(p99) },
    ],
  });
}

/** A time within a job: to the second from a minute on. */
function formatTime(time: number): string {
  return time < 59_950 ? formatElapsed(time) : formatDuration(Math.round(time / 1000) * 1000);
}

function formatNumber(value: number): string {
  return (Math.round(value * 10) / 10).toLocaleString("en-US");
}

function formatRate(rate: number): string {
  return `${formatNumber(rate)}/s`;
}
