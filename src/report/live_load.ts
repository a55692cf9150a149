import { countOf, grouped } from "../base/text/count_of.ts";
import { cutLine, displayWidth } from "../base/text/display_width.ts";
import { oneLine } from "../base/text/printable.ts";
import { formatElapsed } from "../base/value/duration.ts";
import type { JobStarted, LoadOutline, LoadSecond, LoadStats } from "../run/event.ts";
import { LoadTotals } from "../run/load/load_stats.ts";
import type { Style } from "./reporter.ts";
import { summarizeFailure } from "../run/failure/summarize_failure.ts";
import {
  alignColumns,
  type CauseOfFailures,
  causesOf,
  formatPosition,
  percent,
  perSecond,
  renderPace,
  sumSeconds,
} from "./text/render_load.ts";
import { BARS } from "./text/render_rounds.ts";

/** Seconds that the numbers of the moment are about. */
const WINDOW = 5;
/** No screen has more columns for a curve. */
const MAX_CURVE = 200;
const MAX_SHOWN_CAUSES = 5;
const BAR_COLUMNS = 20;
/** Where the lines below the name of the job begin. */
const MARGIN = 4;
/** The width of `last 5s` and what else is before the numbers. */
const LABEL = 9;

/** The numbers of a load job, which change once a second. */
interface Numbers {
  /** Of the latest seconds. */
  readonly recent: LoadStats;
  /** Of all that count. */
  readonly all: LoadStats;
  readonly causes: readonly CauseOfFailures[];
}

/** A load job under way. */
export class LiveLoad {
  readonly #outline: LoadOutline;
  readonly #started: number;
  readonly #totals: LoadTotals;
  /** The latest ones, of one phase. */
  #seconds: LoadSecond[] = [];
  /** The rate of each second, and its p95. */
  readonly #curve: Pick<LoadStats, "rate" | "p95">[] = [];
  #last: LoadSecond | undefined;
  #known: Numbers | undefined;

  constructor(outline: LoadOutline, { time }: Pick<JobStarted, "time">) {
    this.#outline = outline;
    this.#started = time;
    this.#totals = new LoadTotals(outline.steps);
  }

  add(second: LoadSecond): void {
    this.#last = second;
    this.#known = undefined;
    this.#seconds = [...this.#seconds, second].slice(-WINDOW)
      .filter(({ phase }) => phase === second.phase);
    this.#curve.push(sumSeconds([second]));
    if (this.#curve.length > MAX_CURVE) this.#curve.shift();
    if (second.phase !== "warm_up") this.#totals.add(second);
  }

  /** `0:12 of 5:00`, then the stage, or how many rounds are over. */
  progress(now: number): string[] {
    const { stages, count } = this.#outline;
    const position = this.#position(now);
    const all = this.#duration();
    const stage = this.#last?.phase === "warm_up"
      ? "warm-up"
      : this.#last?.phase === "ending"
      ? `${countOf(this.#last.inFlight, "round")} to end`
      : stages.length > 1
      ? `stage ${(this.#last?.stage ?? 0) + 1} of ${stages.length}`
      : undefined;
    return [
      formatPosition(position) + (all === undefined ? "" : ` of ${formatPosition(all)}`),
      ...stage === undefined ? [] : [stage],
      ...count === undefined
        ? []
        : [`${grouped(this.#totals.tally.ended)} of ${countOf(count, "round")}`],
    ];
  }

  /** `━━━━━─────`: how much of its time is over; empty where nobody knows that. */
  bar(now: number, style: Style): string {
    const all = this.#duration();
    if (all === undefined || all === 0) return "";
    const done = Math.min(BAR_COLUMNS, Math.floor(this.#position(now) / all * BAR_COLUMNS));
    return style.cyan("━".repeat(done)) + style.dim("─".repeat(BAR_COLUMNS - done));
  }

  /** The numbers of the moment in a few words. */
  summary(): string[] {
    const numbers = this.#numbers();
    if (!numbers) return [];
    const { recent, all: { failed, dropped } } = numbers;
    return [
      renderPace(recent),
      ...recent.count === 0 ? [] : [`p95 ${formatElapsed(recent.p95)}`],
      ...failed > 0 ? [`${grouped(failed)} failed`] : [],
      ...dropped > 0 ? [`${grouped(dropped)} dropped`] : [],
    ];
  }

  /** The lines below its name: no more than `rows`, at least two, and no wider than `columns`. */
  lines({ columns, rows }: { columns: number; rows: number }, style: Style): string[] {
    const numbers = this.#numbers();
    if (!numbers) return [];
    const width = columns - MARGIN;
    const causes = causeLines(numbers, width, style)
      .slice(0, Math.min(MAX_SHOWN_CAUSES, Math.ceil((rows - 2) / 3)));
    let left = rows - 2 - causes.length;
    const curves = left >= 5 ? this.#curveLines(width, style) : [];
    left -= curves.length;
    return [
      ...this.#momentLines(numbers, width, style),
      ...this.#stepLines(numbers, left, width, style),
      ...curves,
      ...causes,
    ].map((line) => " ".repeat(MARGIN) + line);
  }

  #momentLines({ recent, all }: Numbers, width: number, style: Style): string[] {
    const { p50, p95, p99 } = recent;
    const times = recent.count === 0 ? [] : Object.entries({ p50, p95, p99 });
    const { count, failed, dropped, late, lateMax } = all;
    const share = failed > 0 ? ` (${percent(failed, count)})` : "";
    const worst = late > 0 ? ` (worst ${formatElapsed(lateMax)})` : "";
    const inFlight = this.#last?.inFlight ?? 0;
    return [
      fitParts(`last ${WINDOW}s`, [
        { text: renderPace(recent) },
        ...times.map(([name, time]) => ({ text: `${name} ${formatElapsed(time)}` })),
        { text: `${grouped(inFlight)} at once` },
      ], width),
      fitParts("so far", [
        { text: `${grouped(count)} ${count === 1 ? "round" : "rounds"}` },
        { text: `${grouped(failed)} failed${share}`, paint: failed > 0 ? style.red : undefined },
        ...dropped > 0 ? [{ text: `${grouped(dropped)} dropped`, paint: style.yellow }] : [],
        ...late > 0 ? [{ text: `${grouped(late)} late${worst}`, paint: style.yellow }] : [],
      ], width),
    ];
  }

  /** A row for each step, in the order of the file. */
  #stepLines({ recent, all }: Numbers, rows: number, width: number, style: Style): string[] {
    const { steps } = this.#outline;
    if (rows < 2 || steps.length === 0) return [];
    const shown = steps.length < rows ? steps.length : rows - 2;
    if (shown < 1) return [];
    const room = Math.max(8, width - 34);
    const [now, sofar] = [recent, all].map(({ steps }) =>
      new Map(steps.map((one) => [one.step, one]))
    );
    const cells = steps.slice(0, shown).map((key, index) => {
      const { count = 0, failed = 0 } = sofar!.get(index) ?? {};
      const { count: ended = 0, rate = 0, p95 = 0 } = now!.get(index) ?? {};
      return [
        cutLine(oneLine(key), room),
        grouped(count),
        `${perSecond(rate)}/s`,
        ended === 0 ? "" : formatElapsed(p95),
        grouped(failed),
      ];
    });
    const [head, ...rest] = alignColumns([["step", "count", "rate", "p95", "failed"], ...cells])
      .map((line) => cutLine(line, width));
    const lines = [
      style.dim(head!),
      ...rest.map((line, index) => sofar!.get(index)?.failed ? style.red(line) : line),
    ];
    const others = steps.length - shown;
    if (others > 0) lines.push(style.dim(`… and ${countOf(others, "more step")}`));
    return lines;
  }

  #curveLines(width: number, style: Style): string[] {
    const shown = this.#curve.slice(-Math.max(1, width - LABEL - 10));
    if (shown.length < 2) return [];
    const last = shown.at(-1)!;
    const line = (label: string, values: number[], value: string) =>
      `${label.padEnd(LABEL)}${style.cyan(sparkline(values))} ${value}`;
    return [
      line("rate", shown.map(({ rate }) => rate), `${perSecond(last.rate)}/s`),
      line("p95", shown.map(({ p95 }) => p95), formatElapsed(last.p95)),
    ];
  }

  /** Milliseconds since it began. */
  #position(now: number): number {
    const { from, length, time } = this.#last ?? { from: 0, length: 0, time: this.#started };
    return from + length + Math.min(1000, Math.max(0, now - time));
  }

  #duration(): number | undefined {
    const { stages, warmUp = 0 } = this.#outline;
    return stages.reduce<number | undefined>(
      (sum, { duration }) =>
        sum === undefined || duration === undefined ? undefined : sum + duration,
      warmUp,
    );
  }

  #numbers(): Numbers | undefined {
    if (!this.#last) return undefined;
    return this.#known ??= {
      recent: sumSeconds(this.#seconds, this.#outline.steps),
      all: this.#totals.stats(),
      causes: causesOf(this.#totals.tally.toJson()),
    };
  }
}

/** The causes of failures, the most frequent first. */
function causeLines({ causes }: Numbers, width: number, style: Style): string[] {
  return causes.map(({ cause, count, first: { result } }) => {
    const [failure] = result.failures;
    const text = failure ? `${oneLine(result.name)}: ${summarizeFailure(failure)}` : oneLine(cause);
    return style.red(cutLine(`${grouped(count)} × ${text}`, width));
  });
}

/** A line of as many parts as there is room for, behind its label. */
function fitParts(
  label: string,
  parts: readonly { text: string; paint?: ((text: string) => string) | undefined }[],
  width: number,
): string {
  let line = label.padEnd(LABEL);
  let used = LABEL;
  for (const [index, { text, paint = (plain: string) => plain }] of parts.entries()) {
    const gap = index === 0 ? "" : "   ";
    used += gap.length + displayWidth(text);
    if (used > width) break;
    line += gap + paint(text);
  }
  return used > width && line.trim() === label ? cutLine(line, width) : line;
}

/** A bar for each value, from 0 to the highest. */
function sparkline(values: readonly number[]): string {
  const highest = Math.max(...values);
  if (highest === 0) return BARS[0]!.repeat(values.length);
  return values.map((value) =>
    BARS[Math.min(BARS.length - 1, Math.floor(value / highest * BARS.length))]!
  ).join("");
}
