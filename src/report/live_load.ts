import { countOf, grouped } from "../base/text/count_of.ts";
import { cutLine, displayWidth } from "../base/text/display_width.ts";
import { oneLine } from "../base/text/printable.ts";
import { formatElapsed } from "../base/value/duration.ts";
import { Histogram } from "../base/value/histogram.ts";
import type {
  JobStarted,
  LoadCounts,
  LoadFailures,
  LoadOutline,
  LoadSecond,
} from "../run/event.ts";
import type { Style } from "./reporter.ts";
import { summarizeFailure } from "./text/render_failure.ts";
import {
  alignColumns,
  formatPosition,
  percent,
  perSecond,
  type SecondsSum,
  sumSeconds,
} from "./text/render_load.ts";
import { BARS } from "./text/render_rounds.ts";

/** Seconds that the numbers of the moment are about. */
const WINDOW = 5;
/** No screen has more columns for a curve. */
const MAX_CURVE = 200;
/** More causes of failures than a screen has rows for are not kept. */
const MAX_CAUSES = 50;
const MAX_SHOWN_CAUSES = 5;
const BAR_COLUMNS = 20;
/** Where the lines below the name of the job begin. */
const MARGIN = 4;
/** The width of `last 5s` and what else is before the numbers. */
const LABEL = 9;

/** The seconds with one `from`, of one process or of several. */
interface Moment {
  readonly from: number;
  readonly parts: LoadSecond[];
}

interface Point {
  readonly rate: number;
  readonly p95: number;
}

/** A load job under way. */
export class LiveLoad {
  readonly #outline: LoadOutline;
  readonly #started: number;
  /** The latest ones. */
  readonly #moments: Moment[] = [];
  readonly #curve: Point[] = [];
  readonly #causes = new Map<string, { count: number; example: LoadFailures["example"] }>();
  readonly #steps = new Map<number, { count: number; failed: number }>();
  #count = 0;
  #failed = 0;
  #dropped = 0;
  #late = 0;
  #lateMax = 0;
  #last: LoadSecond | undefined;
  /** What is shown of the latest seconds, which changes once a second. */
  #now: SecondsSum | undefined;

  constructor(outline: LoadOutline, { time }: Pick<JobStarted, "time">) {
    this.#outline = outline;
    this.#started = time;
  }

  add(second: LoadSecond): void {
    this.#last = second;
    this.#now = undefined;
    const known = this.#moments.find(({ from }) => from === second.from);
    if (known) known.parts.push(second);
    else {
      // It is complete when the next one begins.
      const before = this.#moments.at(-1);
      if (before) this.#addPoint(before);
      this.#moments.push({ from: second.from, parts: [second] });
      if (this.#moments.length > WINDOW + 1) this.#moments.shift();
    }
    if (second.phase === "warm_up") return;
    this.#count += countIn(second.rounds);
    this.#failed += second.rounds.failed;
    this.#dropped += second.dropped ?? 0;
    this.#late += second.late ?? 0;
    this.#lateMax = Math.max(this.#lateMax, second.lateMax ?? 0);
    for (const step of second.steps) {
      const sums = this.#steps.getOrInsertComputed(step.step, () => ({ count: 0, failed: 0 }));
      sums.count += countIn(step);
      sums.failed += step.failed;
    }
    for (const { cause, count, example } of second.failures ?? []) {
      const sums = this.#causes.get(cause);
      if (sums) {
        sums.count += count;
        sums.example ??= example;
      } else if (this.#causes.size < MAX_CAUSES) this.#causes.set(cause, { count, example });
    }
  }

  /** `0:12 of 5:00`, then the stage, or how many rounds are over. */
  progress(now: number): string[] {
    const { stages, count } = this.#outline;
    const place = this.#position(now);
    const all = this.#duration();
    const stage = this.#last?.phase === "warm_up"
      ? "warm-up"
      : this.#last?.phase === "ending"
      ? `${countOf(this.#latest()?.inFlight ?? 0, "round")} to end`
      : stages.length > 1
      ? `stage ${(this.#last?.stage ?? 0) + 1} of ${stages.length}`
      : undefined;
    return [
      formatPosition(place) + (all === undefined ? "" : ` of ${formatPosition(all)}`),
      ...stage === undefined ? [] : [stage],
      ...count === undefined ? [] : [`${grouped(this.#count)} of ${countOf(count, "round")}`],
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
    const now = this.#latest();
    if (!now) return [];
    const [p95] = now.times.percentiles([95]);
    return [
      now.rate + now.pace,
      ...now.times.count === 0 ? [] : [`p95 ${formatElapsed(p95!)}`],
      ...this.#failed > 0 ? [`${grouped(this.#failed)} failed`] : [],
      ...this.#dropped > 0 ? [`${grouped(this.#dropped)} dropped`] : [],
    ];
  }

  /** The lines below its name: no more than `rows`, at least two, and no wider than `columns`. */
  lines({ columns, rows }: { columns: number; rows: number }, style: Style): string[] {
    const now = this.#latest();
    if (!now) return [];
    const width = columns - MARGIN;
    const causes = this.#causeLines(width, style)
      .slice(0, Math.min(MAX_SHOWN_CAUSES, Math.ceil((rows - 2) / 3)));
    let left = rows - 2 - causes.length;
    const curves = left >= 5 ? this.#curveLines(width, style) : [];
    left -= curves.length;
    return [
      ...this.#momentLines(now, width, style),
      ...this.#stepLines(left, width, style),
      ...curves,
      ...causes,
    ].map((line) => " ".repeat(MARGIN) + line);
  }

  #momentLines(now: SecondsSum, width: number, style: Style): string[] {
    const times = now.times.count === 0
      ? []
      : now.times.percentiles([50, 95, 99]).map((time, index) =>
        `${["p50", "p95", "p99"][index]} ${formatElapsed(time)}`
      );
    const failed = this.#failed > 0 ? ` (${percent(this.#failed, this.#count)})` : "";
    const late = this.#late > 0 ? ` (worst ${formatElapsed(this.#lateMax)})` : "";
    const paint = (count: number, colour: "red" | "yellow", text: string) =>
      count > 0 ? [{ text, paint: style[colour] }] : [];
    return [
      fitParts(`last ${WINDOW}s`, [
        { text: now.rate + now.pace },
        ...times.map((text) => ({ text })),
        { text: `${grouped(now.inFlight)} at once` },
      ], width),
      fitParts("so far", [
        { text: `${grouped(this.#count)} ${this.#count === 1 ? "round" : "rounds"}` },
        {
          text: `${grouped(this.#failed)} failed${failed}`,
          ...this.#failed > 0 && { paint: style.red },
        },
        ...paint(this.#dropped, "yellow", `${grouped(this.#dropped)} dropped`),
        ...paint(this.#late, "yellow", `${grouped(this.#late)} late${late}`),
      ], width),
    ];
  }

  /** A row for each step, in the order of the file. */
  #stepLines(rows: number, width: number, style: Style): string[] {
    const { steps } = this.#outline;
    if (rows < 2 || steps.length === 0) return [];
    const shown = steps.length < rows ? steps.length : rows - 2;
    if (shown < 1) return [];
    const room = Math.max(8, width - 34);
    const cells = steps.slice(0, shown).map((key, index) => {
      const { count = 0, failed = 0 } = this.#steps.get(index) ?? {};
      const { ended, length, times } = this.#recent(index);
      return [
        cutLine(oneLine(key), room),
        grouped(count),
        `${perSecond(length === 0 ? 0 : ended * 1000 / length)}/s`,
        times.count === 0 ? "" : formatElapsed(times.percentiles([95])[0]!),
        grouped(failed),
      ];
    });
    const [head, ...rest] = alignColumns([["step", "count", "rate", "p95", "failed"], ...cells])
      .map((line) => cutLine(line, width));
    const lines = [
      style.dim(head!),
      ...rest.map((line, index) => this.#steps.get(index)?.failed ? style.red(line) : line),
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

  /** The most frequent first. */
  #causeLines(width: number, style: Style): string[] {
    const known = [...this.#causes].filter(([cause]) => cause !== "")
      .sort(([, one], [, other]) => other.count - one.count);
    return known.map(([cause, { count, example }]) => {
      const [failure] = example?.result.failures ?? [];
      const text = example && failure
        ? `${oneLine(example.result.name)}: ${summarizeFailure(failure)}`
        : oneLine(cause);
      return style.red(cutLine(`${grouped(count)} × ${text}`, width));
    });
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

  /** The latest seconds of the same phase, without one that not all processes have told of. */
  #window(): LoadSecond[] {
    const most = Math.max(...this.#moments.map(({ parts }) => parts.length));
    const last = this.#moments.at(-1);
    const whole = last && last.parts.length < most ? this.#moments.slice(0, -1) : this.#moments;
    const phase = whole.at(-1)?.parts[0]?.phase;
    return whole.slice(-WINDOW).flatMap(({ parts }) => parts)
      .filter((second) => second.phase === phase);
  }

  #latest(): SecondsSum | undefined {
    if (!this.#last) return undefined;
    return this.#now ??= sumSeconds(this.#window());
  }

  #recent(step: number): { ended: number; length: number; times: Histogram } {
    const times = new Histogram(true);
    const lengths = new Map<number, number>();
    let ended = 0;
    for (const { from, length, steps } of this.#window()) {
      lengths.set(from, Math.max(length, lengths.get(from) ?? 0));
      const counts = steps.find((one) => one.step === step);
      if (!counts) continue;
      ended += countIn(counts);
      if (counts.times) times.merge(Histogram.decode(counts.times));
    }
    return { ended, length: [...lengths.values()].reduce((sum, one) => sum + one, 0), times };
  }

  #addPoint({ parts }: Moment): void {
    const times = new Histogram(true);
    let [ended, length] = [0, 0];
    for (const { rounds, length: each } of parts) {
      ended += countIn(rounds);
      length = Math.max(length, each);
      if (rounds.times) times.merge(Histogram.decode(rounds.times));
    }
    const [p95 = 0] = times.percentiles([95]);
    this.#curve.push({ rate: length === 0 ? 0 : ended * 1000 / length, p95 });
    if (this.#curve.length > MAX_CURVE) this.#curve.shift();
  }
}

function countIn({ passed, failed }: LoadCounts): number {
  return passed + failed;
}

/** A line of as many parts as there is room for, behind its label. */
function fitParts(
  label: string,
  parts: readonly { text: string; paint?: (text: string) => string }[],
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
