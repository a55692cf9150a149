import type { JobFinished, RunEvent, StepResult } from "../../run/event.ts";
import { renderFooter, stepIcon } from "./layout.ts";
import { describeKind, stepsInOrder, titleOf } from "./render_rounds.ts";
import { renderFailures, renderTrouble } from "./render_failure.ts";
import type { Reporter, ReportOptions } from "../reporter.ts";
import {
  addToTally,
  makeRoundTally,
  type RoundTally,
  type StepTallies,
} from "../model/round_tally.ts";
import {
  namedReport,
  type StepNames,
  type StepTree,
  StepTrees,
  UntestedSteps,
} from "../model/steps.ts";
import { oneLine } from "../../base/text/printable.ts";
import { countOf, indentedRoom, indentLines, roomOf } from "./lines.ts";

const INDENT = 2;

/** Reports failures, and a footer with the name of the workflow. */
export function quietReport(options: ReportOptions): Reporter {
  /** Of jobs that repeat, whose failures are reported once when they end. */
  const tallies = new Map<string, RoundTally>();
  const trees = new StepTrees();
  const untested = new UntestedSteps();
  let workflow = "";
  return namedReport((event, names) => {
    if (event.type === "run_started") workflow = event.name;
    if (event.type === "run_finished") {
      return [renderFooter(event, options.style, untested.names, workflow)];
    }
    return linesOf(event, names, tallies, trees, untested, options);
  });
}

function linesOf(
  event: RunEvent,
  names: StepNames,
  tallies: Map<string, RoundTally>,
  trees: StepTrees,
  untested: UntestedSteps,
  options: ReportOptions,
): string[] {
  switch (event.type) {
    case "job_started":
      if (event.rounds !== undefined && event.rounds > 1) {
        tallies.set(event.job, makeRoundTally());
      }
      return [];
    case "step_finished": {
      const step = trees.finish(event);
      if (!step) return [];
      untested.add(step);
      const tally = tallies.get(event.run.job);
      if (!tally) {
        return stepLines(step, names.step(event.run, oneLine(event.result.name)), options);
      }
      addToTally(tally, step);
      return [];
    }
    case "step_retried":
      trees.retry(event.run);
      return [];
    case "job_finished":
      return [
        ...roundLines(tallies.get(event.job), names.job(event.job), options),
        ...jobLines(event, options),
      ];
    default:
      return [];
  }
}

/** A step that failed, below those inside of it that did. */
function stepLines({ result, inside }: StepTree, title: string, options: ReportOptions): string[] {
  if (result.state !== "failed") return [];
  const trouble = renderTrouble(result, options.style, roomBelow(options));
  const below = inside.flatMap((step) =>
    stepLines(step, `${title} › ${oneLine(step.result.name)}`, options)
  );
  return [
    ...below,
    ...below.length > 0 && isByEmbedded(result) ? [] : block(title, trouble, options),
  ];
}

/** Whether a step failed only because of steps inside of it. */
function isByEmbedded({ failures }: StepResult): boolean {
  return failures.every(({ kind }) => kind === "embedded");
}

function roundLines(
  tally: StepTallies | undefined,
  around: string,
  options: ReportOptions,
): string[] {
  if (!tally) return [];
  return stepsInOrder(tally).flatMap((step) => {
    const { otherFailures, inside, count } = step;
    const title = `${around} › ${titleOf(step)}`;
    const below = roundLines(inside, title, options);
    const kinds = [...step.kinds.values()].filter(({ first }) =>
      first.state === "failed" && !(below.length > 0 && isByEmbedded(first))
    );
    return [
      ...below,
      ...kinds.flatMap((kind) => {
        const trouble = renderTrouble(kind.first, options.style, roomBelow(options));
        return block(`${title}: ${describeKind(kind)}`, trouble, options);
      }),
      ...otherFailures > 0 && count.failed > 0
        ? block(`${title}: ${countOf(otherFailures, "other failure")}`, [], options)
        : [],
    ];
  });
}

function jobLines({ name, failures }: JobFinished, options: ReportOptions): string[] {
  if (failures.length === 0) return [];
  return block(oneLine(name), renderFailures(failures, options.style, roomBelow(options)), options);
}

function block(title: string, lines: readonly string[], { style }: ReportOptions): string[] {
  return [`${stepIcon("failed", style)} ${style.bold(title)}`, ...indentLines(lines, INDENT), ""];
}

function roomBelow({ columns }: ReportOptions) {
  return indentedRoom(roomOf(columns?.()), INDENT);
}
