import type { JobFinished } from "../../run/event.ts";
import { JobOrder } from "../model/job_order.ts";
import { hasFailed } from "../model/round_tally.ts";
import type { StepTree } from "../model/steps.ts";
import type { ReportOptions } from "../reporter.ts";
import {
  endLines,
  isNewSnapshot,
  type JobBlock,
  renderStep,
  skippedLine,
  stepLines,
} from "./job_block.ts";
import { jobHeader, stepLineOf } from "./layout.ts";
import { oneLine } from "../../base/text/printable.ts";
import { asText } from "./lines.ts";

/** Decides when the lines of jobs that run at the same time are written. */
export interface JobWriter {
  /** A job has started. */
  start(block: JobBlock): void;
  /** A step of it has started; returns what is to be written now, as the others do. */
  begin(block: JobBlock): string;
  /** A step is over. */
  step(block: JobBlock, step: StepTree): string;
  /** The job is over. */
  end(block: JobBlock, event: JobFinished): string;
}

/** Each job as one block of lines: others wait with theirs until the first of the file is over. */
export function writeInBlocks(options: ReportOptions): JobWriter {
  const order = new JobOrder();
  const open = new Set<JobBlock>();
  const header = (block: JobBlock) => {
    if (open.has(block)) return [];
    open.add(block);
    return [jobHeader(block.name, options.style)];
  };
  return {
    start: ({ position }) => order.start(position),
    begin: (block) => order.write(block.position, asText(header(block))),
    step(block, step) {
      if (block.rounds) return "";
      const lines = [...header(block), ...stepLines(block, step, options)];
      return order.write(block.position, asText(lines));
    },
    end(block, event) {
      const skipped = open.has(block) ? undefined : skippedLine(block, event, options);
      const lines = skipped === undefined
        ? [...header(block), ...endLines(block, event, options)]
        : [skipped, ""];
      return order.end(block.position, asText(lines));
    },
  };
}

/**
 * Each result at once: below the name of its job while that runs alone, else in one line with the
 * name of the job. What is left to say about such a step comes with the end of its job.
 */
export function writeAtOnce(options: ReportOptions): JobWriter {
  const running = new Set<JobBlock>();
  /** Steps that had one line, with what else they have to show. */
  const held = new Map<JobBlock, [index: number, step: StepTree][]>();
  /** The job that the last lines belong to. */
  let current: JobBlock | undefined;
  let isAfterLine = false;
  /** Jobs that were skipped while another one wrote. */
  let skipped: string[] = [];
  const leave = () => {
    const lines = current ? ["", ...skipped] : [];
    if (current) skipped = [];
    current = undefined;
    return lines;
  };
  const enter = (block: JobBlock) => {
    if (current === block) return [];
    const lines = [...leave(), ...isAfterLine ? [""] : [], jobHeader(block.name, options.style)];
    isAfterLine = false;
    current = block;
    return lines;
  };
  return {
    start: (block) => void running.add(block),
    begin: () => "",
    step(block, step) {
      if (block.rounds) return "";
      if (running.size < 2) {
        const lines = enter(block);
        return asText([...lines, ...stepLines(block, step, options)]);
      }
      const index = block.lines++;
      if (hasMore(step)) {
        const steps = held.get(block) ?? [];
        steps.push([index, step]);
        held.set(block, steps);
      }
      const lines = [...leave(), stepLineOf(oneLine(block.name), step.result, options)];
      isAfterLine = true;
      return asText(lines);
    },
    end(block, event) {
      running.delete(block);
      const line = skippedLine(block, event, options);
      if (line !== undefined && current) {
        skipped.push(line, "");
        return "";
      }
      const lines = line === undefined
        ? [
          ...enter(block),
          ...(held.get(block) ?? []).flatMap(([index, step]) =>
            renderStep(index, step, options, block.exchange)
          ),
          ...endLines(block, event, options),
          ...skipped,
        ]
        : [...isAfterLine ? [""] : [], line, ""];
      held.delete(block);
      current = undefined;
      isAfterLine = false;
      if (line === undefined) skipped = [];
      return asText(lines);
    },
  };
}

/** Whether a step has more to show than its line. */
function hasMore({ result, inside }: StepTree): boolean {
  return hasFailed(result) || (result.echo ?? "").trim() !== "" || inside.length > 0 ||
    isNewSnapshot(result);
}
