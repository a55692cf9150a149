import type { JobFinished, RunEvent, StepFinished } from "../run/event.ts";
import { renderFooter } from "./footer.ts";
import { stepIcon } from "./layout.ts";
import { namedReport } from "./named_report.ts";
import { renderFailure } from "./render_failure.ts";
import { describeKind, stepsInOrder } from "./render_rounds.ts";
import { renderTrouble } from "./render_step.ts";
import type { Reporter, ReportOptions } from "./reporter.ts";
import { indentedRoom, roomOf } from "./room.ts";
import { addToTally, makeRoundTally, type RoundTally } from "./round_tally.ts";
import type { StepNames } from "./step_names.ts";
import { indentLines } from "./text_lines.ts";

const INDENT = 2;

/** What failed, and the footer. */
export function quietReport(options: ReportOptions): Reporter {
  /** Of jobs that repeat, whose failures are told once when they end. */
  const tallies = new Map<string, RoundTally>();
  return namedReport((event, names) => linesOf(event, names, tallies, options));
}

function linesOf(
  event: RunEvent,
  names: StepNames,
  tallies: Map<string, RoundTally>,
  options: ReportOptions,
): string[] {
  switch (event.type) {
    case "job_started":
      if (event.rounds !== undefined && event.rounds > 1) {
        tallies.set(event.job, makeRoundTally());
      }
      return [];
    case "step_finished": {
      const tally = tallies.get(event.run.job);
      if (tally) addToTally(tally, event);
      return tally || event.result.state !== "failed" ? [] : stepLines(event, names, options);
    }
    case "job_finished":
      return [
        ...roundLines(tallies.get(event.job), names.job(event.job), options),
        ...jobLines(event, options),
      ];
    case "run_finished":
      return [renderFooter(event, options.style)];
    default:
      return [];
  }
}

function stepLines({ run, result }: StepFinished, names: StepNames, options: ReportOptions) {
  const trouble = renderTrouble(result, options.style, roomBelow(options));
  return block(names.step(run, result.name), trouble, options);
}

function roundLines(
  tally: RoundTally | undefined,
  job: string,
  options: ReportOptions,
): string[] {
  if (!tally) return [];
  return stepsInOrder(tally).flatMap(({ name, kinds }) =>
    [...kinds.values()].flatMap((kind) => {
      const trouble = renderTrouble(kind.first, options.style, roomBelow(options));
      return block(`${job} › ${name}: ${describeKind(kind)}`, trouble, options);
    })
  );
}

function jobLines({ name, failures }: JobFinished, options: ReportOptions): string[] {
  if (failures.length === 0) return [];
  const room = roomBelow(options);
  return block(name, failures.flatMap((one) => renderFailure(one, options.style, room)), options);
}

function block(title: string, lines: readonly string[], { style }: ReportOptions): string[] {
  return [`${stepIcon("failed", style)} ${style.bold(title)}`, ...indentLines(lines, INDENT), ""];
}

function roomBelow({ columns }: ReportOptions) {
  return indentedRoom(roomOf(columns?.()), INDENT);
}
