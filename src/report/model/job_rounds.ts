import type { JobState } from "../../run/event.ts";
import { type FailureEntry, makeFailureEntry, withInner } from "../text/failure_list.ts";
import { describeKind, renderRounds, stepsInOrder, titleOf } from "../text/render_rounds.ts";
import type { ReportOptions } from "../reporter.ts";
import { addToTally, makeRoundTally, type StepTallies } from "./round_tally.ts";
import type { StepTree } from "./step_trees.ts";
import { countOf } from "../text/text_lines.ts";

/** The results of a job with a `repeat`; they are reported when all rounds have finished. */
export interface JobRounds {
  /** Whether any of its steps is over. */
  readonly hasBegun: boolean;
  addStep(step: StepTree): void;
  endRound(state: JobState): void;
  /** The result of each step. */
  lines(options: ReportOptions): string[];
  /** The failures for the list at the end; `job` is the name of the job. */
  failures(job: string): FailureEntry[];
  /** ` (10 rounds, 1 failed)`. */
  remark(): string;
}

/** The rounds of a job, none of which has begun. */
export function makeJobRounds(rounds: number, expect?: string): JobRounds {
  const tally = makeRoundTally();
  return {
    get hasBegun() {
      return tally.steps.size > 0;
    },
    addStep: (step) => addToTally(tally, step),
    endRound: (state) => void tally.rounds[state]++,
    lines: (options) => renderRounds(tally, rounds, options),
    failures: (job) => failuresOfRounds(tally, job),
    remark: () => remarkOn(rounds, tally.rounds, expect !== undefined),
  };
}

function failuresOfRounds({ steps }: StepTallies, around: string): FailureEntry[] {
  return stepsInOrder({ steps }).flatMap((step) => {
    const title = `${around} › ${titleOf(step)}`;
    const inner = failuresOfRounds(step.inside, title);
    // Failures that the job tolerates are shown with its steps and do not fail the run.
    const kinds = [...step.kinds.values()].filter(({ first }) => first.state === "failed");
    const own = kinds.map((kind) =>
      makeFailureEntry(title, kind.first.failures, `${describeKind(kind)}: `)
    );
    const [first] = kinds;
    return first && kinds.length === 1 ? withInner(own, inner, first.first) : [...inner, ...own];
  });
}

function remarkOn(
  rounds: number,
  { passed, failed, skipped }: Readonly<Record<JobState, number>>,
  isTolerant: boolean,
): string {
  const parts = [countOf(rounds, "round")];
  if (failed > 0) parts.push(`${failed} failed${isTolerant ? ", expect decides" : ""}`);
  if (skipped > 0) parts.push(`${skipped} cut short`);
  const rest = rounds - passed - failed - skipped;
  if (rest > 0) parts.push(`${rest} not run`);
  return ` (${parts.join(", ")})`;
}
