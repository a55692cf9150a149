import type { RunEvent } from "../../run/event.ts";
import { printableEvent } from "../model/printable_event.ts";
import { suiteTitle } from "../model/step_names.ts";
import { workflowState } from "../model/workflow_state.ts";
import type { Reporter, ReportOptions } from "../reporter.ts";
import { suiteReport } from "../text/suite_report.ts";
import { type LiveJob, LiveJobs } from "./live_jobs.ts";
import { measureLine } from "./live_report.ts";
import { renderLive } from "./render_live.ts";

interface LiveWorkflow {
  readonly name: string;
  readonly started: number;
  readonly jobs: LiveJobs;
  /** Setup and teardown are counted only where they fail, as in the last line. */
  readonly isCounted: boolean;
}

/** The report of several workflows, with a line below it for each that is under way. */
export function liveSuite(options: ReportOptions): Reporter {
  const text = suiteReport(options);
  const running = new Map<string, LiveWorkflow>();
  let [done, failed, all] = [0, 0, 0];
  const update = (event: RunEvent) => {
    if (event.type === "suite_started") all = event.workflows;
    if (event.type === "run_started") {
      const { time: started, runId, suite } = event;
      const isCounted = suite?.role === undefined;
      running.set(runId, { name: suiteTitle(event), started, jobs: new LiveJobs(), isCounted });
    }
    const workflow = running.get(event.runId);
    workflow?.jobs.update(event);
    if (event.type === "run_finished") {
      running.delete(event.runId);
      if (workflow?.isCounted) done++;
      if (workflowState(event) === "failed") failed++;
    }
  };
  return {
    ...text,
    report(event) {
      update(printableEvent(event));
      return text.report(event);
    },
    live(now, columns, rows) {
      const lines = [...running.values()].map(lineOf);
      return renderLive(lines, { done, failed, all }, now, { columns, rows }, options.style)
        .map(measureLine);
    },
  };
}

/** A workflow with the step of it that has been under way for longest. */
function lineOf({ name, started, jobs }: LiveWorkflow): LiveJob {
  const [job] = jobs.inOrder();
  const line = { name, started, roundsDone: 0 };
  if (!job) return line;
  const inside = job.step ? { inside: job.step } : {};
  return { ...line, step: { name: job.name, started: job.started, ...inside } };
}
