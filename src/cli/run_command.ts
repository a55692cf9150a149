import { makePlan } from "../plan/make_plan.ts";
import { openReport } from "../report/open_report.ts";
import { run, type RunOptions } from "../run/run.ts";
import { UsageError } from "../source/errors.ts";
import { durationProblem, parseDuration } from "../value/duration.ts";
import { loadWorkflow } from "../workflow/load_workflow.ts";
import { usesColour } from "./colour.ts";
import type { ExitCode, Invocation, Program } from "./command.ts";
import { outputMode } from "./output_mode.ts";

/** Runs a workflow and prints the report; 0 when every job completed and every test passed. */
export async function runCommand(invocation: Invocation, program: Program): Promise<ExitCode> {
  const { host, leave } = program;
  const { switches, values, operands } = invocation;
  const mode = outputMode(values.get("output"), host.env, host.stdout);
  const noColor = switches.has("no-color");
  const colour = usesColour(noColor, host.env, host.stdout);
  const timeout = runTimeout(host.env.get("RUNNER_TIMEOUT"));
  const { workflow, warnings } = await loadWorkflow(operands[0]!, host);
  if (warnings.length > 0) {
    const { explainWarnings } = await import("./explain_error.ts");
    host.stderr.write(explainWarnings(warnings, host));
  }

  const plan = await makePlan(workflow, host.env.all());
  const interruption = new AbortController();
  const verbose = switches.has("verbose");
  const report = await openReport(host, {
    mode,
    verbose,
    timing: switches.has("timing"),
    colour,
    onReaderGone: () => interruption.abort("stopped: nobody reads the report any more"),
  });
  const deaf = host.signals.listen((signal) => {
    if (interruption.signal.aborted) {
      report.close();
      leave(1);
    }
    interruption.abort(`interrupted by ${signal}`);
  });
  try {
    const passed = await run(plan, host, report.take, {
      signal: interruption.signal,
      ...(timeout === undefined ? {} : { timeout }),
      ...(verbose ? { detail: { all: true, debug: true, limit: Infinity } } : {}),
    });
    return passed ? 0 : 1;
  } finally {
    deaf();
    report.close();
  }
}

/** The bound of RUNNER_TIMEOUT; none where it is not set. */
function runTimeout(value: string | undefined): RunOptions["timeout"] {
  if (value === undefined || value === "") return undefined;
  const milliseconds = parseDuration(value);
  if (milliseconds === undefined) throw new UsageError(`RUNNER_TIMEOUT ${durationProblem(value)}`);
  if (milliseconds === 0) {
    throw new UsageError(
      `RUNNER_TIMEOUT must be more than nothing, not "${value}"`,
      "leave it empty for a run without bounds",
    );
  }
  return { milliseconds, reason: `RUNNER_TIMEOUT of ${value} is over` };
}
