import { LoadError } from "../../base/errors.ts";
import type { Plan } from "../../plan/plan.ts";
import { run } from "../../run/run.ts";
import {
  FailedJobs,
  noteUnknownFailed,
  readFailed,
  selectFailed,
  writeFailed,
} from "../../suite/failed_jobs.ts";
import { loadPlan } from "../../suite/load_plan.ts";
import { openOperands } from "../../suite/open_suite.ts";
import type { SuiteFile } from "../../suite/suite.ts";
import { type ExitCode, type Invocation, type Program, unwatchedHost } from "../command.ts";
import { readRun, refuseOptions } from "./read_run.ts";
import { readReportSettings, type ReportSettings, reportsToGithub } from "./report_settings.ts";
import { runReported } from "./run_reported.ts";

/** Runs workflows and prints the report; 0 when every job completed and every test passed. */
export async function runCommand(invocation: Invocation, program: Program): Promise<ExitCode> {
  const { operands, switches, values } = invocation;
  const { host, watching } = program;
  if (values.has("run")) {
    return await (await import("./run_piece_command.ts")).runPieceCommand(invocation, program);
  }
  if (switches.has("watch")) {
    const { watchCommand } = await import("./watch_command.ts");
    return await watchCommand(invocation, program, runCommand);
  }
  const opened = await openOperands(operands, host, watching?.files.hostOfSearch());
  if ("workflow" in opened) {
    refuseOptions("workflow", invocation);
    return await runWorkflow(opened.workflow, invocation, program);
  }
  refuseOptions("suite", invocation);
  const { runSuiteCommand } = await import("./run_suite_command.ts");
  return await runSuiteCommand(opened, invocation, program);
}

async function runWorkflow(
  file: SuiteFile,
  invocation: Invocation,
  program: Program,
): Promise<ExitCode> {
  const { host, watching } = program;
  const settings = await readReportSettings(invocation, host);
  const prepared = await prepare(file, invocation, program, settings);
  const { planning, options, secrets } = prepared;
  const plan = await failedPart(prepared.plan, file.path, invocation, program);
  if (isShown(invocation)) {
    const { renderPlan } = await import("./render_plan.ts");
    host.stdout.write(renderPlan(plan, planning, secrets));
    return 0;
  }
  const runHost = watching?.files.hostOf(file.path, true) ?? host;
  const code = await runReported(
    {
      failed: new FailedJobs(),
      invocation,
      run: (emit, reported) => run(plan, runHost, emit, { ...options, secrets, ...reported }),
    },
    settings,
    program,
  );
  if (code !== 0) (await import("../messages.ts")).printSeed(plan.draws, host);
  return code;
}

/** With `--rerun-failed`, the jobs that failed in its last run; all if that is not known. */
async function failedPart(
  plan: Plan,
  path: string,
  { switches }: Invocation,
  program: Program,
): Promise<Plan> {
  if (!switches.has("rerun-failed")) return plan;
  const { host, watching } = program;
  const failed = watching?.failed ?? await readFailed(unwatchedHost(program));
  const ids = failed.get(path);
  // The files of the other jobs are still watched.
  watching?.select([{ path, index: 0, key: path, plan }]);
  if (ids) return selectFailed(plan, ids);
  noteUnknownFailed([path], host);
  return plan;
}

/** Reads the inputs and plans the workflow. Reports one that cannot be loaded as a failed run. */
async function prepare(
  file: SuiteFile,
  invocation: Invocation,
  program: Program,
  { targets }: ReportSettings,
) {
  const { host } = program;
  try {
    const { planning, options, makeSecrets } = await readRun(invocation, program);
    const plan = await loadPlan(file, host, planning);
    return { plan, planning, options, secrets: makeSecrets() };
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    if (!isShown(invocation)) {
      await writeFailed(
        new Map([...await readFailed(unwatchedHost(program)), [file.path, [""]]]),
        host,
      );
    }
    if (reportsToGithub(targets)) {
      const { annotateRefusal } = await import("../messages.ts");
      host.stderr.write(annotateRefusal(file.path, error, program));
    }
    throw error;
  }
}

function isShown({ switches }: Invocation): boolean {
  return switches.has("list") || switches.has("dry-run");
}
