import type { Diagnostic } from "../../base/diagnostic.ts";
import type { RunEvent } from "../../run/event.ts";
import {
  FailedCollector,
  type FailedJobs,
  readFailed,
  selectFailed,
  writeFailed,
} from "../../suite/failed_state.ts";
import { openSuite } from "../../suite/open_suite.ts";
import { runSuite } from "../../suite/run_suite.ts";
import type { SuiteMember } from "../../suite/suite.ts";
import { type PreparedSuite, prepareSuite } from "../inputs/prepare_suite.ts";
import { renderAsList } from "../inputs/prepare_run.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { printSeed } from "../messages/print_seed.ts";
import { explainError } from "../messages/explain_error.ts";
import { printAll, readSettings, refuseWarnings, runReported } from "./run_reported.ts";

/** Runs several workflows and prints one report; 0 when all of them passed. */
export async function runSuiteCommand(
  invocation: Invocation,
  program: Program,
): Promise<ExitCode> {
  const { host, watching } = program;
  const { switches, lists, operands } = invocation;
  const open = await openSuite(operands, watching?.files.hostOfSearch() ?? host);
  const asked = lists.has("report") || open.report.length === 0 || switches.has("list") ||
      switches.has("dry-run")
    ? invocation
    : { ...invocation, lists: new Map([...lists, ["report", open.report]]) };
  const settings = await readSettings(asked, host);
  const isStrict = switches.has("strict");
  const warn = (found: readonly Diagnostic[], path: string) =>
    isStrict ? refuseWarnings(path, found) : printAll(found, settings.level, program);
  const failed = switches.has("rerun-failed") ? await readFailed(host) ?? NOTHING : undefined;
  const filter = (members: readonly SuiteMember[]) => {
    const affected = watching ? watching.select(members) : members;
    if (!failed) return affected;
    const chosen = selectFailed(affected, failed);
    if (chosen.length > 0) return chosen;
    const which = failed === NOTHING ? "" : "of these files ";
    host.stderr.write(`no failed run ${which}is known in this directory: everything runs\n`);
    return affected;
  };
  const prepared = await prepareSuite(open, invocation, program, { warn, filter });
  if (settings.level === "debug" && prepared.leftOut > 0) {
    host.stderr.write(`YAML files left out, as they are not workflows: ${prepared.leftOut}\n`);
  }
  if (switches.has("list") || switches.has("dry-run")) {
    return await showSuite(prepared, invocation, program);
  }
  if (prepared.seed !== undefined) {
    host.stderr.write(`shuffled: --shuffle=${prepared.seed} gives the same order\n`);
  }
  const { suite, options } = prepared;
  const collector = new FailedCollector(suite.workflows);
  const code = await runReported(
    {
      isSuite: true,
      async run(emit, more) {
        const take = (event: RunEvent) => {
          collector.take(event);
          emit(event);
        };
        const passed = await runSuite(suite, host, take, {
          ...options,
          ...more,
          ...watching ? { hostOf: (path) => watching.files.hostOf(path, true) } : {},
        });
        await writeFailed(collector.failed, host);
        return passed;
      },
    },
    settings,
    program,
  );
  if (code !== 0) printSeed(prepared.draws, host);
  return code;
}

const NOTHING: FailedJobs = new Map();

/** Prints the workflows instead of running them; 1 where one cannot be loaded. */
async function showSuite(
  { suite, inputs, options }: PreparedSuite,
  { switches }: Invocation,
  program: Program,
): Promise<ExitCode> {
  const { host } = program;
  let code: ExitCode = 0;
  const show = async (member: SuiteMember, role = "") => {
    if (member.kind === "refused") {
      host.stderr.write(explainError(member.refusal, host, program.secrets));
      code = 1;
      return;
    }
    const { plan, path } = member;
    const secrets = options.makeSecrets();
    const text = switches.has("list")
      ? await renderAsList(plan, secrets)
      : (await import("../preview/dry_run.ts")).renderDryRun({
        plan,
        vars: plan.workflow.vars,
        environment: inputs.environment,
        secrets,
      });
    host.stdout.write(`${role}${path}\n${text.replace(/^(?=.)/gm, "  ")}\n`);
  };
  for (const member of suite.setup) await show(member, "setup: ");
  for (const member of suite.workflows) await show(member);
  for (const member of suite.teardown) await show(member, "teardown: ");
  return code;
}
