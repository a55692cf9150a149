import { StepError } from "../../base/errors.ts";
import { countOf, grouped } from "../../base/text/count_of.ts";
import { formatDuration, formatElapsed } from "../../base/value/duration.ts";
import { formatValue } from "../../base/value/format_value.ts";
import { describeValue, type Dict, isDict, type Value } from "../../base/value/value.ts";
import { connectionLimit, cpuMeter } from "../../host/machine.ts";
import type { Expression, Scope } from "../../expr/expression.ts";
import { plainTemplate, renderData } from "../../expr/template.ts";
import { addSecretsOf } from "../../secrets/find_secrets.ts";
import type { Job, Rows } from "../../workflow/model.ts";
import type { JobState, LoadSecondFields, LoadStats } from "../event.ts";
import type { CompiledStep } from "../execute/compiled_step.ts";
import {
  FieldError,
  FieldErrors,
  inField,
  isTrue,
  NothingToRun,
} from "../execute/evaluate_field.ts";
import { type LoadRounds, nameOfJob, type RoundStart, type RunExecution } from "../run_state.ts";
import { MeasuredRounds } from "./load_rounds.ts";
import { LoadTotals, statsValue } from "./load_stats.ts";
import type { LoadPlan } from "./plan_load.ts";
import { judge, operandsOf } from "./thresholds.ts";

/** Runs the rounds of a load job, and decides whether it passes. */
export async function runLoad(
  start: RoundStart,
  steps: readonly CompiledStep[],
  plan: LoadPlan,
  scope: Scope,
): Promise<JobState> {
  const { run, job } = start;
  const { load, outline } = plan;
  const { clock } = run.host;
  const rows = load.data && await readLoadRows(run, job, load.data, scope);
  const totals = new LoadTotals(outline.steps);
  const errors: FieldError[] = [];
  const scopeWith = (stats: LoadStats, isFinal: boolean) => ({
    ...scope,
    names: { ...scope.names, stats: statsValue(stats, outline.steps, isFinal) },
  });
  const onSecond = (second: LoadSecondFields) => {
    run.emit({ type: "load_second", time: clock.now(), ...second });
    if (second.phase !== "warm_up") totals.add(second);
    if (!load.stopIf || second.phase || errors.length > 0) return undefined;
    return stopReason(load.stopIf, scopeWith(totals.stats(), false), errors);
  };
  // Users of a race send at one moment, which processes of their own would not hit.
  const spread = load.together ? undefined : run.options.spreadLoad;
  const rounds: LoadRounds = spread?.roundsOf(start, onSecond) ?? new MeasuredRounds({
    ...{ start, steps, plan, rows, scope },
    cpuTime: await cpuMeter(),
    onSecond: (second) => onSecond({ job: job.id, ...second }),
  });
  try {
    await rounds.run();
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    errors.push(error);
  }
  if (rounds.problem) errors.push(new FieldError(["load"], rounds.problem));
  const stats = totals.stats();
  const thresholds = (load.expect ?? []).map((one) => judge(one, scopeWith(stats, true), errors));
  run.emit({
    type: "load_ended",
    time: clock.now(),
    job: job.id,
    stats,
    thresholds,
    stopped: rounds.stopped || undefined,
  });
  if (!run.options.piece?.team) {
    const name = nameOfJob(run, job.id);
    warnIfBusy(run, name, stats);
    warnOfDropped(run, name, stats, load.maxInFlight);
    warnOfConnections(run, name, stats);
    if (stats.resent) {
      const text =
        `${
          countOf(stats.resent, "request was", "requests were")
        } sent again: the server had closed the ` +
        "connection without an answer, and may have received the first";
      run.note("warning", `${name}: ${text}`);
    }
  }
  if (run.cancellation.reason !== undefined) return "failed";
  const isSplit = run.options.piece?.header.part !== undefined;
  // The statistics of a part are not those of all rounds.
  const decisive = errors.filter(({ field }) => !isSplit || field[1] !== "expect");
  if (stats.count === 0 && !isSplit && !rounds.problem && run.draining.reason === undefined) {
    decisive.unshift(new FieldError(["load"], new StepError(whyNothing(stats))));
  }
  if (decisive.length > 0) throw new FieldErrors(decisive);
  if (rounds.hasFailed) return "failed";
  return run.draining.reason === undefined ? "passed" : "skipped";
}

/** Why the job has to stop, if its condition says so. */
function stopReason(
  condition: Expression,
  scope: Scope,
  errors: FieldError[],
): string | undefined {
  const field = ["load", "stop_if"];
  try {
    if (!isTrue(condition, scope, field)) return undefined;
  } catch (error) {
    if (!(error instanceof FieldError)) throw error;
    errors.push(error);
    return "stop_if cannot be evaluated";
  }
  const values = operandsOf(condition, scope, true)
    .map(({ text, value }) => `${text} is ${formatValue(value)}`);
  const reason = `stop_if is true: ${values.join(", ") || condition.source.trim()}`;
  errors.push(
    new FieldError(field, new StepError(reason, undefined, { decided: true }), condition),
  );
  return reason;
}

/** The part of the rounds that may be late or missing without a warning. */
const TOLERANCE = 0.01;

/** Fewer late rounds are no trouble, however few there are in all. */
const FEW = 10;

/** The part of a processor from which a process is busy. */
const BUSY = 0.9;

/** Warns if this process could not keep the rate, which makes rounds late with any server. */
function warnIfBusy(run: RunExecution, job: string, stats: LoadStats): void {
  const { asked, started, elapsed, late, lateMax, busy } = stats;
  if (asked === undefined || elapsed === 0) return;
  const rate = started * 1000 / elapsed;
  const isSlow = rate < asked * (1 - TOLERANCE);
  const isLate = late >= FEW && late > started * TOLERANCE;
  if (!isLate && !(isSlow && busy >= BUSY)) return;
  const parts = [
    ...isSlow
      ? [`the rate was ${grouped(Math.round(rate))}/s of ${grouped(Math.round(asked))}/s asked`]
      : [],
    ...isLate
      ? [`${grouped(late)} rounds started late, by up to ${formatDuration(Math.round(lateMax))}`]
      : [],
  ];
  const processes = (run.options.spreadLoad?.processes ?? 1) *
    Math.max(2, Math.ceil(asked / Math.max(rate, 1)));
  const advice = processes <= navigator.hardwareConcurrency
    ? `spread the job over processes with --processes ${processes}`
    : "use a larger machine, or several";
  const used = `runner used ${Math.round(busy * 100)} % of a processor in its busiest second`;
  const why = busy >= BUSY
    ? `${used}, so one is not enough: ${advice}`
    : `${used}, so it was not short of one: either pauses of its own or other programs on this ` +
      "machine held the starts up, and the times are too long";
  run.note("warning", `${job}: ${parts.join(", and ")}; ${why}`);
}

/** Warns where requests waited for a connection of ours, which no server is to blame for. */
function warnOfConnections(run: RunExecution, job: string, { steps, inFlight }: LoadStats): void {
  const limit = connectionLimit(run.host.env);
  const wait = Math.max(0, ...steps.map(({ phases }) => phases?.queue ?? 0));
  if (wait < 1 || inFlight <= limit) return;
  const text = `requests waited ${formatElapsed(wait)} for a connection on average: ` +
    `${grouped(inFlight)} rounds were under way at once, and at most ${
      grouped(limit)
    } connections ` +
    "are open: RUNNER_MAX_CONNECTIONS and the limit of open files (ulimit -n) raise that";
  run.note("warning", `${job}: ${text}`);
}

/** Warns where more than a few rounds found no place. */
function warnOfDropped(
  run: RunExecution,
  job: string,
  stats: LoadStats,
  maxInFlight: number,
): void {
  const { started, dropped } = stats;
  const due = started + dropped;
  if (dropped <= due * TOLERANCE) return;
  run.note(
    "warning",
    `${job}: ${grouped(dropped)} of ${grouped(due)} rounds were dropped: max_in_flight is ${
      grouped(maxInFlight)
    }`,
  );
}

/** Why there is nothing to judge: a load that no round has carried proves nothing. */
function whyNothing({ dropped, setup }: LoadStats): string {
  const why = setup && setup.passed === 0
    ? "the setup of every user failed"
    : dropped > 0
    ? `all ${grouped(dropped)} were dropped`
    : "none was due";
  return `no round was measured: ${why}`;
}

/** What steps of a load job see of its only round where it is run without load. */
export async function namesOfOnlyRound(
  { run, job }: Pick<RoundStart, "run" | "job">,
  scope: Scope,
): Promise<Dict> {
  const { data } = job.load!;
  const [row] = data ? await readLoadRows(run, job, data, scope) : [];
  return { round: { index: 0, user: 0 }, ...row ? { vars: { ...run.vars, ...row } } : {} };
}

/** The rows that the rounds of a load job take in turn. */
async function readLoadRows(
  run: RunExecution,
  job: Job,
  data: Rows,
  scope: Scope,
): Promise<readonly Dict[]> {
  const key = ["load", "data"];
  const rows: Dict[] = [];
  const add = (value: Value) => {
    const row = isDict(value) ? value : { item: value };
    addSecretsOf(row, run.secrets);
    rows.push(row);
  };
  try {
    if (data.kind === "file") {
      const { readChosenRows } = await import("../execute/read_rows.ts");
      const keys = { field: key, where: [...key, "where"], owner: job.path };
      for await (const value of readChosenRows(run, data, { scope, vars: run.vars, ...keys })) {
        add(value);
      }
    } else if (data.kind === "list") {
      for (const [index, entry] of data.entries.entries()) {
        add(inField([...key, index], () => renderData(entry, scope)) as Value);
      }
    } else {
      const list = inField(key, () => data.list.render(scope), data.list);
      if (typeof list === "string") {
        const file = { kind: "file", file: plainTemplate(list), parallel: 1 } as const;
        return await readLoadRows(run, job, { ...file, types: new Map() }, scope);
      }
      if (!Array.isArray(list)) {
        const what = describeValue(list);
        throw new StepError(`"data" must be a list or the path of a file, not ${what}`);
      }
      for (const value of list) add(value);
    }
  } catch (error) {
    if (error instanceof NothingToRun) throw new FieldError(key, new StepError(error.message));
    throw error instanceof FieldError ? error : new FieldError(key, error);
  }
  if (rows.length === 0) throw new FieldError(key, new StepError('"data" has no rows'));
  return rows;
}
