import type { Host } from "../../host/host.ts";
import { makePlan } from "../../plan/make_plan.ts";
import type { Plan } from "../../plan/plan.ts";
import { run, type RunOptions } from "../../run/run.ts";
import type { Diagnostic } from "../../source/diagnostic.ts";
import { LoadError, UsageError } from "../../source/errors.ts";
import { loadWorkflow } from "../../workflow/load_workflow.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import {
  printAll,
  readSettings,
  refuseWarnings,
  runReported,
  type Settings,
  tellsGithub,
} from "./run_reported.ts";

/** Runs a workflow and prints the report; 0 when every job completed and every test passed. */
export async function runCommand(invocation: Invocation, program: Program): Promise<ExitCode> {
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
  if (prepared.text === undefined) {
    const { plan, options } = prepared;
    return await runReported(
      { run: (emit, more) => run(plan, program.host, emit, { ...options, ...more }) },
      settings,
      program,
    );
  }
  program.host.stdout.write(prepared.text);
  return 0;
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
  const bytes = await files.read(only).catch(() => new Uint8Array());
  return new TextDecoder().decode(bytes).includes("workflows");
}

function refuseSuiteOptions({ values, operands: [path] }: Invocation): void {
  const name = OF_SUITES.find((option) => values.has(option));
  if (name === undefined || name === "workers" || name === "shuffle") return;
  throw new UsageError(
    `option --${name} divides several workflows, and '${path}' is one`,
    "name several files, a directory, a pattern in quotes or a suite file",
  );
}

interface Prepared {
  readonly plan: Plan;
  /** What to print instead of running the plan, where that is asked for. */
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
    const { workflow, warnings, hints } = await loadWorkflow(file, host, permissions);
    await warn(warnings);
    if (level === "debug") await printAll(hints, level, program);
    const prepared = await preparation?.plan(workflow) ??
      { plan: await makePlan(workflow, host.env.all()) };
    await warn(prepared.plan.warnings);
    return preparation ? { ...prepared, options: preparation.options } : prepared;
  } catch (error) {
    if (error instanceof LoadError && tellsGithub(targets)) {
      const { annotateRefusal } = await import("../messages/annotate_refusal.ts");
      host.stderr.write(annotateRefusal(file, error, program));
    }
    throw error;
  }
}

/** Options that change the run of a workflow. */
const PREPARING: readonly string[] = [
  ...["only", "skip", "no-needs", "tags", "var", "var-file", "env-file"],
  ...["fail-fast", "strict", "jobs", "cleanup-timeout", "list", "dry-run"],
  ...["allow-net", "allow-run", "allow-read", "allow-write", "no-shell"],
  ...["cacert", "cert", "key", "insecure"],
];

function isPrepared({ switches, values, lists }: Invocation): boolean {
  return PREPARING.some((name) => switches.has(name) || values.has(name) || lists.has(name));
}
