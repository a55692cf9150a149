import { LoadError } from "../../base/errors.ts";
import { readShardTimes } from "../../suite/divide_suite.ts";
import {
  type FailedIds,
  FailedJobs,
  noteUnknownFailed,
  readFailed,
  selectFailed,
} from "../../suite/failed_jobs.ts";
import { loadSuite } from "../../suite/load_suite.ts";
import { type OpenOperands, suiteOfOperands } from "../../suite/open_suite.ts";
import { runSuite } from "../../suite/run_suite.ts";
import type { Suite, SuiteMember } from "../../suite/suite.ts";
import { type ExitCode, type Invocation, type Program, unwatchedHost } from "../command.ts";
import { annotateRefusal, printSeed } from "../messages.ts";
import { readRun, type RunInputs, warnOf } from "./read_run.ts";
import { renderPlan, shown } from "./render_plan.ts";
import { readReportSettings, reportsToGithub } from "./report_settings.ts";
import { runReported } from "./run_reported.ts";

/** Runs several workflows and prints one report; 0 when all of them passed. */
export async function runSuiteCommand(
  opened: OpenOperands,
  invocation: Invocation,
  program: Program,
): Promise<ExitCode> {
  const { host, watching } = program;
  const { switches, values, lists, operands } = invocation;
  const open = "suite" in opened ? opened.suite : suiteOfOperands(operands, host);
  const isShown = switches.has("list") || switches.has("dry-run");
  const asked = lists.has("report") || open.report.length === 0 || isShown
    ? invocation
    : { ...invocation, lists: new Map([...lists, ["report", open.report]]) };
  const settings = await readReportSettings(asked, host);
  await warnOf(invocation, program)(open.warnings, open.path ?? "");
  const inputs = await readRun(invocation, program, open.envFiles);
  const { planning, options } = inputs;
  const failed = switches.has("rerun-failed")
    ? watching?.failed ?? await readFailed(unwatchedHost(program))
    : undefined;
  const times = values.get("shard-times");
  const { suite, leftOut } = await loadSuite(open, host, {
    ...planning,
    filter(members) {
      const affected = watching ? watching.select(members) : members;
      const chosen = failed ? affected.flatMap((member) => failedPart(member, failed)) : affected;
      if (failed && chosen.length === 0) noteUnknownFailed(operands, host);
      return chosen.length > 0 ? chosen : affected;
    },
    shard: options.shard,
    times: times === undefined ? undefined : await readShardTimes(times, host),
    shuffle: options.shuffle,
    hostOf: watching && ((path) => watching.files.hostOf(path)),
  }).catch((error) => {
    if (error instanceof LoadError && reportsToGithub(settings.targets)) {
      host.stderr.write(annotateRefusal(operands.join(" "), error, program));
    }
    throw error;
  });
  if (settings.level === "debug" && leftOut > 0) {
    host.stderr.write(`YAML files left out, as they are not workflows: ${leftOut}\n`);
  }
  if (isShown) return showSuite(suite, inputs, program);
  if (options.shuffle !== undefined) {
    host.stderr.write(`shuffled: --shuffle=${options.shuffle} gives the same order\n`);
  }
  const code = await runReported(
    {
      isSuite: true,
      failed: new FailedJobs(suite.workflows),
      invocation,
      run: (emit, reported) =>
        runSuite(suite, host, emit, {
          ...options,
          workers: options.workers ?? open.workers,
          makeSecrets: inputs.makeSecrets,
          hostOf: watching && ((path) => watching.files.hostOf(path, true)),
          ...reported,
        }),
    },
    settings,
    program,
  );
  if (code !== 0) printSeed(planning.draws, host);
  return code;
}

/** What of a workflow failed in its last run, if anything did. */
function failedPart(member: SuiteMember, failed: FailedIds): readonly SuiteMember[] {
  const ids = failed.get(member.key);
  return ids ? [{ ...member, plan: selectFailed(member.plan, ids) }] : [];
}

/** Prints the workflows instead of running them. */
function showSuite(
  { setup, workflows, teardown }: Suite,
  { planning, makeSecrets }: RunInputs,
  program: Program,
): ExitCode {
  const { host } = program;
  const show = (member: SuiteMember, role = "") => {
    const secrets = makeSecrets();
    const text = renderPlan(member.plan, planning, secrets);
    const name = member.name === undefined ? "" : `  ${shown(secrets.mask(member.name))}`;
    host.stdout.write(`${role}${member.path}${name}\n${text.replace(/^(?=.)/gm, "  ")}\n`);
  };
  for (const member of setup) show(member, "setup: ");
  for (const member of workflows) show(member);
  for (const member of teardown) show(member, "teardown: ");
  return 0;
}
