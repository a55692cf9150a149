import { sumOf } from "../../run/count_steps.ts";
import { renderCommonName } from "../model/common_name.ts";
import {
  BELOW_NAME,
  BELOW_NUMBER,
  belowName,
  narrowed,
  renderEcho,
  stepIcon,
  stepNumber,
} from "./layout.ts";
import { renderTimes } from "./render_times.ts";
import { renderTrouble } from "./render_trouble.ts";
import type { ReportOptions } from "../reporter.ts";
import type { Style } from "../style.ts";
import type { FailureKind, StepTallies, StepTally } from "../model/round_tally.ts";
import { oneLine } from "../../source/printable.ts";
import { countOf, indentedRoom, indentLines } from "./text_lines.ts";

/** Renders the results of each step of a repeated job, in the order of the file. */
export function renderRounds(
  tally: StepTallies,
  rounds: number,
  options: ReportOptions,
): string[] {
  return stepsInOrder(tally).flatMap((step, number) => {
    const { style } = options;
    const inside = renderRounds(step.inside, rounds, narrowed(options, BELOW_NUMBER));
    return [
      `${stepNumber(number, style)}${titleOf(step)} (repeating ${rounds} times)`,
      ...indentLines([countLine(step, rounds, options), ...inside], BELOW_NUMBER),
      ...indentLines(belowCount(step, options), BELOW_NAME),
    ];
  });
}

/** The steps of a repeated job as the file has them; rounds side by side finish in any order. */
export function stepsInOrder({ steps }: StepTallies): readonly StepTally[] {
  return [...steps.values()].sort((a, b) => a.step - b.step || a.entry - b.entry);
}

/** The title of a step of a repeated job for all of its rounds. */
export function titleOf({ name }: StepTally): string {
  return oneLine(renderCommonName(name));
}

/** `failed 7 times, first at repeat_index 3`: the number by which expressions know a round. */
export function describeKind({ count, round }: FailureKind): string {
  return count === 1
    ? `failed once, at repeat_index ${round}`
    : `failed ${count} times, first at repeat_index ${round}`;
}

function countLine(step: StepTally, rounds: number, { style }: ReportOptions): string {
  const { passed, failed, skipped, untested, tolerated } = step.count;
  const ran = passed + failed + untested + tolerated;
  const worst = failed > 0 ? "failed" : tolerated > 0 ? "tolerated" : undefined;
  const left = rounds - ran - skipped;
  const remarks = [
    step.flaky > 0 ? `, ${step.flaky} flaky` : "",
    skipped > 0 && ran > 0 ? `, ${skipped} skipped` : "",
    step.untestedFailures > 0 ? `, ${step.untestedFailures} with ${oneLine(step.untested!)}` : "",
    left > 0 ? `, ${left} not run` : "",
  ].join("");
  if (ran === 0) {
    const why = step.reason === undefined ? "" : ` (${oneLine(step.reason)})`;
    return `${stepIcon("skipped", style)} ${style.dim(`${skipped}/${rounds} skipped${why}`)}`;
  }
  if (untested > 0) {
    const icon = stepIcon(worst ?? "untested", style);
    return `${icon} ${untested}/${ran} completed (no test)${remarks}`;
  }
  // Neither all nor none where that is not so.
  const share = passed === 0 || passed === ran
    ? passed / ran * 100
    : Math.min(Math.max(passed / ran * 100, 0.1), 99.9);
  return `${stepIcon(worst ?? "passed", style)} ${passed}/${ran} success (${
    share.toFixed(1)
  }%)${remarks}`;
}

/** The distinct echoes of the rounds, each with its first round unless all are equal. */
function echoLines({ echoes, echoesLeftOut }: StepTally, style: Style): string[] {
  const kinds = [...echoes.values()].sort((a, b) => a.round - b.round);
  const isSame = kinds.length + echoesLeftOut === 1;
  return kinds.flatMap(({ text, round, count }) => {
    const lines = renderEcho(text, style);
    if (isSame) return lines;
    const label = style.dim(`repeat_index ${round}${count === 1 ? "" : ` and ${count - 1} more`}:`);
    return lines.length === 1 ? [`${label} ${lines[0]}`] : [label, ...indentLines(lines, 2)];
  });
}

function belowCount(step: StepTally, options: ReportOptions): string[] {
  const { style } = options;
  const room = indentedRoom(belowName(options), 2);
  const ran = sumOf(step.count) - step.count.skipped;
  const times = renderTimes(step.responseTimes, ran, belowName(options));
  const lines = [...times.map(style.dim), ...echoLines(step, style)];
  if (step.echoesLeftOut > 0) lines.push(`… (${step.echoesLeftOut} more)`);
  for (const kind of step.kinds.values()) {
    lines.push(`${describeKind(kind)}:`, ...indentLines(renderTrouble(kind.first, style, room), 2));
  }
  if (step.otherFailures > 0) {
    lines.push(countOf(step.otherFailures, "other failure"));
  }
  return lines;
}
