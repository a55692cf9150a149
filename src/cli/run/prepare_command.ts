import { RunnerError, UsageError } from "../../base/errors.ts";
import { durationProblem, parseDuration } from "../../base/value/duration.ts";
import { addSecretsOf, addSecretValue } from "../../secrets/find_secrets.ts";
import { renderRunFile } from "../../spread/run_file.ts";
import { loadPlan } from "../../suite/load_plan.ts";
import { loadSuite } from "../../suite/load_suite.ts";
import { openOperands } from "../../suite/open_suite.ts";
import type { Suite } from "../../suite/suite.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { VERSION } from "../version.ts";
import { writeTextFile } from "../write_text_file.ts";
import { takeKey } from "./piece_files.ts";
import { readRun, refuseOptions } from "./read_run.ts";

/** Evaluates the `vars` of workflows and chooses their jobs for all pieces of a run. */
export async function prepareCommand(
  invocation: Invocation,
  program: Program,
): Promise<ExitCode> {
  const { values, operands } = invocation;
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
  const opened = await openOperands(operands, host);
  const suite = "suite" in opened ? opened.suite : undefined;
  refuseOptions(suite ? "suite" : "workflow", invocation);
  const seal = await takeKey(program);
  const { planning, makeSecrets } = await readRun(invocation, program, suite);
  const loaded = suite && (await loadSuite(suite, host, planning)).suite;
  const workflows = "workflow" in opened
    ? [{ plan: await loadPlan(opened.workflow, host, planning) }]
    : workflowsOf(loaded!);
  if (!suite && workflows[0]!.plan.jobs.length === 0) throw new RunnerError("no job was chosen");
  const secrets = makeSecrets();
  for (const { plan } of workflows) {
    addSecretsOf(plan.vars, secrets);
    for (const value of plan.secrets) addSecretValue(value, secrets);
  }
  const text = await renderRunFile({
    ...{ id, version: VERSION, created: host.clock.now(), startAt, secrets, seal, workflows },
    suite: loaded && { name: loaded.name, operands },
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

/** All workflows of a suite. */
function workflowsOf({ setup, workflows, teardown }: Suite) {
  return [
    ...setup.map((member) => ({ ...member, role: "setup" as const })),
    ...workflows,
    ...teardown.map((member) => ({ ...member, role: "teardown" as const })),
  ];
}
