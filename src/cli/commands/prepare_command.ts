import { refuseFailing } from "../../check/refuse_run.ts";
import { Draws } from "../../expr/draws.ts";
import { durationProblem, parseDuration } from "../../base/value/duration.ts";
import { renderRunFile } from "../../spread/run_file.ts";
import { addSecretsOf, addSecretValue, makeMasker } from "../../secrets/add_secrets.ts";
import { RunnerError, UsageError } from "../../base/errors.ts";
import { loadWorkflow } from "../../workflow/load_workflow.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { takeKey } from "../inputs/piece_key.ts";
import { prepareRun } from "../inputs/prepare_run.ts";
import { logLevel } from "../messages/warnings.ts";
import { VERSION } from "../version.ts";
import { writeTextFile } from "../write_text_file.ts";
import { printAll } from "./run_reported.ts";

/** Evaluates the `vars` of a workflow and chooses its jobs for all pieces of a run. */
export async function prepareCommand(
  invocation: Invocation,
  program: Program,
): Promise<ExitCode> {
  const { values, operands, switches } = invocation;
  const { host } = program;
  const out = values.get("out");
  if (out === undefined) throw new UsageError("--out is missing", "name the run file: --out FILE");
  const id = values.get("id") ?? crypto.randomUUID();
  if (!/^[\w.-]{1,200}$/.test(id)) {
    throw new UsageError(
      `option --id must be 1 to 200 letters, digits, ".", "_" or "-", not "${id}"`,
    );
  }
  const startAt = startOf(values.get("start-in"), host.clock.now());
  const level = await logLevel(host.env, switches);
  const { isSuiteOf } = await import("../../suite/open_suite.ts");
  if (await isSuiteOf(operands, host)) {
    if (startAt !== undefined) {
      throw new UsageError(
        "option --start-in is for the shares of a split job, and a suite has none",
        "prepare one workflow",
      );
    }
    const { prepareSuiteRun } = await import("./prepare_suite_run.ts");
    await writeTextFile(out, await prepareSuiteRun(id, level, invocation, program), host);
    return 0;
  }
  const seal = await takeKey(program);
  const preparation = await prepareRun(invocation, program);
  await printAll(preparation.warnings, level, program);
  const loaded = await loadWorkflow(operands[0]!, host);
  await printAll(loaded.warnings, level, program);
  const draws = new Draws(invocation.values.get("seed"));
  const { plan } = await preparation.plan(loaded.workflow, draws);
  await printAll(plan.warnings, level, program);
  if (!switches.has("no-check")) await refuseFailing(loaded, plan, host);
  if (plan.jobs.length === 0) throw new RunnerError("no job was chosen");
  const secrets = makeMasker([host.env.all(), ...program.secrets]);
  addSecretsOf(plan.vars, secrets);
  for (const value of plan.secrets) addSecretValue(value, secrets);
  const text = await renderRunFile(plan, {
    id,
    version: VERSION,
    created: host.clock.now(),
    secrets,
    seal,
    ...startAt === undefined ? {} : { startAt },
  });
  await writeTextFile(out, text, host);
  return 0;
}

function startOf(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const milliseconds = parseDuration(text);
  if (milliseconds !== undefined) return now + milliseconds;
  throw new UsageError(`option --start-in ${durationProblem(text)}`, "write --start-in 90s");
}
