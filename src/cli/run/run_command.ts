import { LoadError } from "../../base/errors.ts";
import { hasRounds, type Plan } from "../../plan/plan.ts";
import { run } from "../../run/run.ts";
import { FailedJobs, noteUnknownFailed, readFailed, writeFailed } from "../../suite/failed_jobs.ts";
import { loadPlan } from "../../suite/load_plan.ts";
import { openOperands } from "../../suite/open_suite.ts";
import type { SuiteFile } from "../../suite/suite.ts";
import { type ExitCode, type Invocation, type Program, unwatchedHost } from "../command.ts";
import { readRun, refuseOptions, type RunInputs } from "./read_run.ts";
import { readReportSettings, readTimeout, reportsToGithub } from "./report_settings.ts";
import { type LoadedRun, runReported } from "./run_reported.ts";

/** Runs workflows and prints the report; 0 when every job completed and every test passed. */
export async function runCommand(invocation: Invocation, program: Program): Promise<ExitCode> {
  const { switches, values } = invocation;
  const { host } = program;
  if (values.has("run")) {
    return await (await import("./run_piece_command.ts")).runPieceCommand(invocation, program);
  }
  if (switches.has("watch")) {
    const { watchCommand } = await import("./watch_command.ts");
    return await watchCommand(invocation, program, runCommand);
  }
  if (values.has("every")) {
    const { everyCommand } = await import("./every_command.ts");
    return await everyCommand(invocation, program, loadAgain);
  }
  const { settings, loaded, draws, isShown } = await loadWithinTimeout(
    program,
    () => loadRun(invocation, program),
  );
  if (isShown) {
    host.stdout.write(await loaded.show());
    return 0;
  }
  const code = await runReported({ ...loaded, invocation }, settings, program);
  if (code !== 0) (await import("../messages.ts")).printSeed(draws, host);
  return code;
}

/** Loads a run that may be repeated. */
async function loadAgain(invocation: Invocation, loading: Program) {
  const { settings, loaded, draws } = await loadWithinTimeout(
    loading,
    () => loadRun(invocation, loading),
  );
  return async (program: Program): Promise<ExitCode> => {
    const began = program.host.clock.ticks();
    const code = await runReported(loaded, { ...settings, began }, program);
    if (code !== 0) (await import("../messages.ts")).printSeed(draws, program.host);
    return code;
  };
}

/** Loads what the operands name, and reads how it is to be reported. */
async function loadRun(invocation: Invocation, program: Program) {
  const { operands, switches, lists } = invocation;
  const { host, watching } = program;
  const began = host.clock.ticks();
  const opened = await openOperands(operands, host, watching?.files.hostOfSearch());
  const suite = "suite" in opened ? opened.suite : undefined;
  refuseOptions(suite ? "suite" : "workflow", invocation);
  const isShown = switches.has("list") || switches.has("dry-run");
  const { report = [] } = suite ?? {};
  const reported = isShown || lists.has("report") || report.length === 0
    ? invocation
    : { ...invocation, lists: new Map([...lists, ["report", report]]) };
  const settings = await readReportSettings(reported, host, began);
  const load = async () => {
    const inputs = await readRun(reported, program, suite);
    const loaded = "workflow" in opened
      ? await loadWorkflowRun(opened.workflow, inputs, invocation, program)
      : await (await import("./load_suite_run.ts")).loadSuiteRun(
        opened.suite,
        inputs,
        invocation,
        program,
      );
    return { loaded, draws: inputs.planning.draws };
  };
  const { loaded, draws } = await load().catch(async (error) => {
    if (error instanceof LoadError && reportsToGithub(settings.targets)) {
      const { annotateRefusal } = await import("../messages.ts");
      host.stderr.write(annotateRefusal(operands.join(" "), error, program));
    }
    throw error;
  });
  return { settings, loaded, draws, isShown };
}

/** Loads and plans a workflow. One that cannot be loaded has failed for the next `--rerun-failed`. */
async function loadWorkflowRun(
  file: SuiteFile,
  { planning, options, makeSecrets }: RunInputs,
  { switches }: Invocation,
  program: Program,
): Promise<LoadedRun> {
  const { host, watching } = program;
  const { path } = file;
  const whole = await loadPlan(file, host, planning).catch(async (error) => {
    if (error instanceof LoadError && !switches.has("list") && !switches.has("dry-run")) {
      const memory = unwatchedHost(program);
      await writeFailed(new Map([...await readFailed(memory), [path, [""]]]), memory);
    }
    throw error;
  });
  const plan = switches.has("rerun-failed") ? await failedPart(whole, path, program) : whole;
  const secrets = makeSecrets();
  const runHost = watching?.files.hostOf(path, true) ?? host;
  return {
    failed: new FailedJobs(),
    isPlain: !hasRounds(plan),
    run: (emit, { memoryOf, ...reported }) =>
      run(plan, runHost, emit, { ...options, secrets, memory: memoryOf?.(path), ...reported }),
    async show() {
      const { renderPlan } = await import("./render_plan.ts");
      return renderPlan(plan, planning, secrets);
    },
  };
}

/** The jobs that failed in its last run; all if that is not known. */
async function failedPart(plan: Plan, path: string, program: Program): Promise<Plan> {
  const { host, watching } = program;
  const failed = watching?.failed ?? await readFailed(unwatchedHost(program));
  const ids = failed.get(path);
  // The files of the other jobs are still watched.
  watching?.select([{ path, index: 0, key: path, plan }]);
  if (ids) return (await import("../../plan/select_jobs.ts")).selectFailed(plan, ids);
  noteUnknownFailed([path], host);
  return plan;
}

/** Loads what is to be run, within the time that the run has. */
async function loadWithinTimeout<T>(
  { host, exit }: Program,
  load: () => Promise<T>,
): Promise<T> {
  const { clock, env, signals, stderr } = host;
  const timeout = readTimeout(env);
  if (!timeout) return await load();
  const stopListening = signals.listen(() => exit(1), timeout);
  const stopTimer = clock.after(timeout.milliseconds, () => {
    stderr.write(`runner: error: ${timeout.reason}, and nothing has run\n`);
    stderr.flush().finally(() => exit(1));
  });
  try {
    return await load();
  } finally {
    stopTimer();
    stopListening();
  }
}
