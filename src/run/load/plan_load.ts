import { StepError } from "../../base/errors.ts";
import { grouped } from "../../base/text/count_of.ts";
import type { Scope } from "../../expr/expression.ts";
import type { Assertion, Duration, Job, Load } from "../../workflow/model.ts";
import { statsKeys } from "../../workflow/step_facts.ts";
import type { LoadOutline, LoadStageOutline } from "../event.ts";
import { connectionLimit } from "../../host/machine.ts";
import type { Environment } from "../../host/host.ts";
import { evaluateDuration, FieldError } from "../execute/evaluate_field.ts";
import { Schedule } from "./schedule.ts";

/** What a load job is to do, with its durations evaluated. */
export interface LoadPlan {
  readonly load: Load;
  readonly outline: LoadOutline;
  readonly schedule: Schedule;
}

/** Plans a load job; `longest` is the most milliseconds that its stages may take in all. */
export function planLoad(job: Job, scope: Scope, env: Environment, longest?: number): LoadPlan {
  const load = job.load!;
  const { count, maxInFlight } = load;
  if (load.together) {
    refuseTooMany(job, Math.min(load.stages[0]!.users!, count ?? Infinity), connectionLimit(env));
  }
  const durationOf = (duration: Duration, ...key: (string | number)[]) =>
    evaluateDuration(duration, scope, ["load", ...key]);
  const durations = load.stages.map(({ rate, duration, index }) => {
    const key = index === undefined ? ["for"] : ["stages", index, "for"];
    const time = duration && durationOf(duration, ...key);
    // These rounds take their time, until the next one would be due.
    const ofCount = rate !== undefined && count !== undefined ? count / rate * 1000 : Infinity;
    return Math.min(time ?? Infinity, ofCount);
  });
  const sum = durations.reduce((sum, duration) => sum + duration, 0);
  const scaled = (time: number) =>
    longest === undefined || sum <= longest
      ? time
      : sum === Infinity
      ? longest
      : time * longest / sum;
  const warmUp = load.warmUp && durationOf(load.warmUp, "warm_up");
  const stages = load.stages.map(({ rate, users, ramp }, index): LoadStageOutline => {
    const duration = scaled(durations[index]!);
    return {
      ...{ rate, users, ramp },
      duration: duration === Infinity ? undefined : duration,
    };
  });
  const scaledWarmUp = warmUp === undefined || sum === Infinity ? warmUp : scaled(warmUp);
  const outline: LoadOutline = {
    stages,
    warmUp: scaledWarmUp || undefined,
    count,
    maxInFlight: maxInFlight === Infinity ? undefined : maxInFlight,
    thinkTime: isNone(load.thinkTime) ? undefined : sourceOfDuration(load.thinkTime),
    expect: load.expect?.map(sourceOf),
    stopIf: load.stopIf?.source.trim(),
    steps: statsKeys(job.steps),
  };
  return { load, outline, schedule: new Schedule(stages, scaledWarmUp) };
}

const HINT = "have fewer users, or raise RUNNER_MAX_CONNECTIONS and the limit of open files";

/** Throws where users could not be held back, as not all of them can have a connection. */
function refuseTooMany({ steps }: Job, users: number, limit: number): void {
  if (users <= limit || !steps.some(({ action }) => action.name === "http")) return;
  const message = `${grouped(users)} users cannot begin together: at most ${grouped(limit)} ` +
    "connections are open at the same time";
  throw new FieldError(["load", "together"], new StepError(message, HINT));
}

function isNone(duration: Duration): boolean {
  return duration.kind === "constant" && duration.milliseconds === 0;
}

function sourceOfDuration(duration: Duration): string {
  return duration.kind === "constant"
    ? `${duration.milliseconds / 1000}s`
    : duration.template.source.trim();
}

function sourceOf({ expression }: Assertion): string {
  return expression.source.trim();
}
