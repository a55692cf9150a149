import { refuseFailing } from "../../check/refuse_run.ts";
import { Draws } from "../../expr/draws.ts";
import type { Host } from "../../host/host.ts";
import { makePlan } from "../../plan/make_plan.ts";
import type { Plan } from "../../plan/plan.ts";
import type { RunEvent } from "../../run/event.ts";
import { run } from "../../run/run.ts";
import type { RunOptions } from "../../run/run_options.ts";
import { printSeed } from "../messages/print_seed.ts";
import { hasFailedState, mustRerun } from "../../suite/failed_path.ts";
import { decodeText } from "../../base/text/decode_text.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { LoadError, UsageError } from "../../base/errors.ts";
import { loadWorkflow } from "../../workflow/load_workflow.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import {
  printAll,
  readSettings,
  refuseWarnings,
  reportsToGithub,
  runReported,
  type Settings,
} from "./run_reported.ts";

/** Runs a workflow and prints the report; 0 when every job completed and every test passed. */
export async function runCommand(invocation: Invocation, program: Program): Promise<ExitCode> {
  if (invocation.values.has("run")) {
    return await (await import("./run_piece_command.ts")).runPieceCommand(invocation, program);
  }
  refusePieceOptions(invocation);
  if (invocation.switches.has("watch")) {
    const { watchCommand } = await import("./watch_command.ts");
    return await watchCommand(invocation, program, runCommand);
  }
  if (await mayBeSuite(invocation, program.host)) {
    const { isSuiteOf } = await import("../../suite/open_suite.ts");
    const isSuite = invocation.switches.has("rerun-failed") ||
      await isSuiteOf(invocation.operands, program.host);
    if (isSuite) {
      return await (await import("./run_suite_command.ts")).runSuiteCommand(invocation, program);
    }
    refuseSuiteOptions(invocation);
  }
  const settings = await readSettings(invocation, program.host);
  const prepared = await prepare(invocation, program, settings);
  if (prepared.text !== undefined) {
    program.host.stdout.write(prepared.text);
    return 0;
  }
  const { plan, options } = prepared;
  const failed: string[] = [];
  const { host, watching } = program;
  const runHost = watching?.files.hostOf(invocation.operands[0]!, true) ?? host;
  const code = await runReported(
    {
      run(emit, more) {
        const take = (event: RunEvent) => {
          if (event.type === "job_finished" && mustRerun(event)) failed.push(event.job);
          emit(event);
        };
        return run(plan, runHost, take, { ...options, ...more });
      },
    },
    settings,
    program,
  );
  await rememberFailed(plan.workflow.document.name, failed, program.host);
  if (code !== 0) printSeed(plan.draws, program.host);
  return code;
}

/** Keeps for `--rerun-failed` what failed, or that nothing did. */
async function rememberFailed(file: string, jobs: readonly string[], host: Host): Promise<void> {
  if (jobs.length === 0 && !await hasFailedState(host)) return;
  const { writeFailed } = await import("../../suite/failed_state.ts");
  await writeFailed(new Map(jobs.length === 0 ? [] : [[file, jobs]]), host);
}

/** Options that only a piece of a run has a use for. */
const OF_PIECES = ["inputs", "outputs", "rounds", "start-at", "finally", "setup", "teardown"];

function refusePieceOptions({ values, lists, switches }: Invocation): void {
  const name = OF_PIECES.find((name) => values.has(name) || lists.has(name) || switches.has(name));
  if (name === undefined) return;
  throw new UsageError(
    `option --${name} requires --run`,
    "it is for one process of a run that runner prepare has made",
  );
}

/** Options that only several workflows have a use for. */
const OF_SUITES = ["workers", "shuffle", "shard", "shard-times"];

/**
 * Whether more than one workflow may be meant: nearly always it is a file without a word in it
 * that a suite has, and the code of suites is not needed to know that.
 */
async function mayBeSuite(
  { operands, values, switches }: Invocation,
  { files }: Host,
): Promise<boolean> {
  const [only = "", ...others] = operands;
  if (
    others.length > 0 || switches.has("rerun-failed") || OF_SUITES.some((name) => values.has(name))
  ) return true;
  if (only.includes(",") && !/[*?[{]/.test(only)) return false;
  if (!await files.isFile(only).catch(() => false)) return true;
  const text = await files.read(only).then(decodeText).catch(() => "");
  return text.includes("workflows");
}

function refuseSuiteOptions({ values, operands: [path] }: Invocation): void {
  const name = ["shard", "shard-times"].find((option) => values.has(option));
  if (name === undefined) return;
  throw new UsageError(
    `option --${name} divides several workflows, and '${path}' is one`,
    "name several files, a directory, a pattern in quotes or a suite file",
  );
}

interface Prepared {
  readonly plan: Plan;
  /** The text to print instead of running the plan, if an option asks for that. */
  readonly text?: string;
  readonly options?: RunOptions;
}

/** Reads and plans the workflow, and reports its warnings. */
async function prepare(
  invocation: Invocation,
  program: Program,
  { level, targets }: Settings,
): Promise<Prepared> {
  const { host } = program;
  const file = invocation.operands[0]!;
  try {
    const preparation = isPrepared(invocation)
      ? await (await import("../inputs/prepare_run.ts")).prepareRun(invocation, program)
      : undefined;
    const isStrict = invocation.switches.has("strict");
    const warn = (found: readonly Diagnostic[]) =>
      isStrict ? refuseWarnings(file, found) : printAll(found, level, program);
    await warn(preparation?.warnings ?? []);
    const permissions = preparation?.options.permissions;
    const loaded = await loadWorkflow(file, host, permissions);
    const { workflow, warnings, hints } = loaded;
    await warn(warnings);
    if (level === "debug") await printAll(hints, level, program);
    const draws = new Draws(invocation.values.get("seed"));
    const prepared = await preparation?.plan(workflow, draws) ??
      { plan: await makePlan(workflow, host.env.all(), undefined, draws) };
    await warn(prepared.plan.warnings);
    const { switches } = invocation;
    if (!switches.has("list") && !switches.has("no-check")) {
      await refuseFailing(loaded, prepared.plan, host, { isStrict });
    }
    return preparation ? { ...prepared, options: preparation.options } : prepared;
  } catch (error) {
    // A workflow that cannot be loaded has failed as a whole.
    if (error instanceof LoadError && !isShown(invocation)) await rememberFailed(file, [""], host);
    if (error instanceof LoadError && reportsToGithub(targets)) {
      const { annotateRefusal } = await import("../messages/annotate_refusal.ts");
      host.stderr.write(annotateRefusal(file, error, program));
    }
    throw error;
  }
}

function isShown({ switches }: Invocation): boolean {
  return switches.has("list") || switches.has("dry-run");
}

/** Options that change the run of a workflow. */
const PREPARING: readonly string[] = [
  ...["only", "skip", "no-needs", "tags", "var", "var-file", "env-file"],
  ...["fail-fast", "strict", "jobs", "cleanup-timeout", "list", "dry-run"],
  ...["snapshot", "update-snapshots"],
  ...["allow-net", "allow-run", "allow-read", "allow-write", "no-shell"],
  ...["cacert", "cert", "key", "insecure", "openapi"],
];

function isPrepared({ switches, values, lists }: Invocation): boolean {
  return PREPARING.some((name) => switches.has(name) || values.has(name) || lists.has(name));
}
