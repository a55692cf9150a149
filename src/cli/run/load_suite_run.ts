import {
  type FailedIds,
  FailedJobs,
  noteUnknownFailed,
  readFailed,
} from "../../suite/failed_jobs.ts";
import { selectFailed } from "../../plan/select_jobs.ts";
import { loadSuite } from "../../suite/load_suite.ts";
import { runSuite } from "../../suite/run_suite.ts";
import type { OpenSuite, SuiteMember } from "../../suite/suite.ts";
import { type Invocation, type Program, unwatchedHost } from "../command.ts";
import { logLevel } from "../output_mode.ts";
import type { RunInputs } from "./read_run.ts";
import type { LoadedRun } from "./run_reported.ts";
import { LoadError, RunnerError } from "../../base/errors.ts";
import { tryParseJson } from "../../base/value/parse_json.ts";
import { isDict } from "../../base/value/value.ts";
import type { Host } from "../../host/host.ts";
import { readTextFile } from "../../workflow/read_files.ts";

/** Loads and plans several workflows. */
export async function loadSuiteRun(
  open: OpenSuite,
  { planning, options, makeSecrets }: RunInputs,
  { operands, switches, values }: Invocation,
  program: Program,
): Promise<LoadedRun> {
  const { host, watching } = program;
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
  });
  const { setup, workflows, teardown } = suite;
  if (logLevel(host.env, switches) === "debug" && leftOut > 0) {
    host.stderr.write(`YAML files left out, as they are not workflows: ${leftOut}\n`);
  }
  const isShown = switches.has("list") || switches.has("dry-run");
  if (options.shuffle !== undefined && !isShown) {
    host.stderr.write(`shuffled: --shuffle=${options.shuffle} gives the same order\n`);
  }
  const show = async () => {
    const { renderPlan, shown } = await import("./render_plan.ts");
    const showMember = (member: SuiteMember, role = "") => {
      const secrets = makeSecrets();
      const text = renderPlan(member.plan, planning, secrets);
      const name = member.name === undefined ? "" : `  ${shown(secrets.mask(member.name))}`;
      return `${role}${member.path}${name}\n${text.replace(/^(?=.)/gm, "  ")}\n`;
    };
    return [
      ...setup.map((member) => showMember(member, "setup: ")),
      ...workflows.map((member) => showMember(member)),
      ...teardown.map((member) => showMember(member, "teardown: ")),
    ].join("");
  };
  return {
    isSuite: true,
    failed: new FailedJobs(workflows),
    run: (emit, reported) =>
      runSuite(suite, host, emit, {
        ...options,
        workers: options.workers ?? open.workers,
        makeSecrets,
        hostOf: watching && ((path) => watching.files.hostOf(path, true)),
        ...reported,
      }),
    show,
  };
}

/** The jobs of a workflow that failed in its last run. */
function failedPart(member: SuiteMember, failed: FailedIds): readonly SuiteMember[] {
  const ids = failed.get(member.key);
  return ids ? [{ ...member, plan: selectFailed(member.plan, ids) }] : [];
}

/** Reads the times of workflows by path from a report of `json=`. Throws RunnerError. */
async function readShardTimes(
  path: string,
  host: Host,
): Promise<ReadonlyMap<string, number>> {
  const { text } = await readTextFile(path, host, "report");
  host.files.addWritten(path);
  const runs = runsOf(text);
  if (!runs) {
    const hint = "--shard-times reads what --report json=FILE has written";
    throw new LoadError(`'${path}' is not a JSON report`, [], hint);
  }
  const times = new Map<string, number>();
  for (const run of runs) {
    if (!isDict(run) || !isDict(run.workflow) || run.role !== undefined) continue;
    const { file } = run.workflow;
    if (typeof file !== "string" || typeof run.duration !== "number") continue;
    times.set(file, (times.get(file) ?? 0) + run.duration);
  }
  if (times.size === 0) throw new RunnerError(`the report '${path}' has no workflows`);
  return times;
}

function runsOf(text: string): readonly unknown[] | undefined {
  const report = tryParseJson(text);
  if (!isDict(report)) return undefined;
  if (report.schema === "runner-report/1") return [report];
  return Array.isArray(report.runs) ? report.runs : undefined;
}
