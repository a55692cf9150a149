import { cutToWidth, displayWidth } from "../../base/text/display_width.ts";
import { cutLine } from "../text/fit_lines.ts";
import type { LiveJob, LiveStep, Progress } from "./live_jobs.ts";
import type { Style } from "../style.ts";
import { FRAME_TIME } from "./terminal.ts";
import { oneLine } from "../../base/text/printable.ts";
import { countOf } from "../text/text_lines.ts";

const FRAMES = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];
const WAITS = { wait: "waits", initial_delay: "starts in", retry: "tries again in" };
/** Columns that the names keep, and half of the line: the rest shows the progress of the step. */
const NAME_COLUMNS = 8;
const NARROW = 30;
/** The width of a time such as `  12.3s`. */
const TIME_COLUMNS = 7;
/** Steps of a repeated job that are over sooner would only flicker. */
const LEAST_TIME_IN_ROUNDS = 1000;

/** The part of the terminal that is available for drawing. */
export interface Screen {
  readonly columns: number;
  readonly rows: number;
}

/**
 * One line for each job that is under way, then how many are over; no wider than the screen. Where
 * there are more jobs than rows the last line counts those that have none.
 */
export function renderLive(
  jobs: readonly LiveJob[],
  { done, failed, all }: Progress,
  now: number,
  { columns, rows }: Screen,
  style: Style,
): string[] {
  if (rows < 1) return [];
  const shown = jobs.length <= rows ? jobs : jobs.slice(0, rows - 1);
  const lines = shown.map((job) => jobLine(job, now, columns, style));
  const note = (text: string) => lines.push(style.dim(cutLine(`  ${text}`, columns)));
  const left = jobs.length - shown.length;
  const progress = `${done} of ${all} done${failed > 0 ? `, ${failed} failed` : ""}`;
  if (left > 0) note(`… and ${countOf(left, "more job")}, ${progress}`);
  else if (lines.length > 0 && lines.length < rows && all > 1) note(progress);
  return lines;
}

function jobLine(job: LiveJob, now: number, columns: number, style: Style): string {
  const frame = FRAMES[Math.floor(now / FRAME_TIME) % FRAMES.length]!;
  const room = columns - 2;
  if (room < 1) return cutToWidth(frame, columns);
  const step = shownStep(job, now);
  const title = titleOf([job.name, ...namesOf(step)].map(oneLine), room);
  const kept = Math.min(displayWidth(title), Math.max(NAME_COLUMNS, Math.floor(room / 2)));
  const state = stateOf(job, innermost(step), now, room - kept);
  const name = cutLine(title, room - displayWidth(state));
  return `${style.cyan(frame)} ${name}${style.dim(state)}`;
}

/** `  1.2s  ↻ 2/5  tries again in 0.8s  3/10 rounds`, or as much of it as there is room for. */
function stateOf(
  { started, rounds, roundsDone }: LiveJob,
  step: LiveStep | undefined,
  now: number,
  room: number,
): string {
  const parts = [tenths(Math.max(0, now - (step?.started ?? started)))];
  if (step?.attempt) parts.push(`↻ ${step.attempt.number}/${step.attempt.of}`);
  if (step?.waiting && step.waiting.until > now) {
    parts.push(`${WAITS[step.waiting.why]} ${tenths(step.waiting.until - now)}`);
  }
  if (rounds !== undefined) {
    parts.push(`${roundsDone}/${countOf(rounds, "round")}`);
    const seconds = (now - started) / 1000;
    if (roundsDone > 1 && seconds > 0) parts.push(`${(roundsDone / seconds).toFixed(1)}/s`);
  }
  let state = "";
  for (const part of parts) {
    const longer = `${state}  ${part}`;
    if (displayWidth(longer) > room) break;
    state = longer;
  }
  return state;
}

/** `Build › fetch`; where there is hardly room for a name, that of the step alone. */
function titleOf(names: readonly string[], room: number): string {
  const title = names.join(" › ");
  return room < NARROW && displayWidth(title) + TIME_COLUMNS > room ? names.at(-1)! : title;
}

/** The step to show, if one lasts long enough to be read. */
function shownStep({ rounds = 1, step }: LiveJob, now: number): LiveStep | undefined {
  if (!step || rounds < 2) return step;
  const until = Math.max(now, innermost(step)?.waiting?.until ?? 0);
  return until - step.started < LEAST_TIME_IN_ROUNDS ? undefined : step;
}

function namesOf(step: LiveStep | undefined): readonly string[] {
  return step ? [step.name, ...namesOf(step.inside)] : [];
}

function innermost(step: LiveStep | undefined): LiveStep | undefined {
  return step?.inside ? innermost(step.inside) : step;
}

/** A time that runs keeps its width. */
function tenths(milliseconds: number): string {
  return `${(milliseconds / 1000).toFixed(1)}s`;
}
