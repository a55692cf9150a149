import type { ContractViolation, JobResult } from "../../action/action.ts";
import type { Expression, Scope } from "../../expr/expression.ts";
import type { Failure, PassedTest } from "../event.ts";
import type { StepContext } from "../execute/step_context.ts";
import type { Owner, SnapshotDifference, SpentTime } from "./make_failure.ts";
import type { Assertion } from "../../workflow/model.ts";
import type { AttemptInput } from "./nil_parameters.ts";
import type { Session } from "../session.ts";

type Explain = typeof import("./make_failure.ts");

/** The code that explains failures, which a run without failures never loads. */
let code: Promise<Explain> | undefined;
const load = () => code ??= import("./make_failure.ts");

/** Turns what was thrown in a step or job into a failure with its place in the file. */
export async function failureOf(
  session: Session,
  owner: Owner,
  error: unknown,
  given?: AttemptInput,
): Promise<Failure> {
  const { failureOfError } = await load();
  return await failureOfError(session, owner, error, given);
}

/** The failure of a `test` that came out false, with the values that decided it. */
export async function falseTest(
  session: Session,
  context: StepContext,
  test: Assertion,
  given: AttemptInput,
): Promise<Failure> {
  const { failureOfTest } = await load();
  return await failureOfTest(session, context, test, given);
}

/** The failure of an action that took longer than `max_time`, with the phases of that time. */
export async function spentTime(
  session: Session,
  context: StepContext,
  most: number,
  spent: SpentTime,
): Promise<Failure> {
  const { failureOfTime } = await load();
  return await failureOfTime(session, context, most, spent);
}

/** The failure of a step whose result is not as its snapshot. */
export async function otherSnapshot(
  session: Session,
  context: StepContext,
  difference: SnapshotDifference,
): Promise<Failure> {
  const { failureOfSnapshot } = await load();
  return await failureOfSnapshot(session, context, difference);
}

/** A test that came out true, with the values that decided it. */
export async function passedTest(
  session: Session,
  test: Expression,
  scope: Scope,
): Promise<PassedTest> {
  const { describePassedTest } = await load();
  return describePassedTest(session, test, scope);
}

/** The failure of a step by the job that it embeds, whose steps have reported theirs. */
export async function failedJob(
  session: Session,
  context: StepContext,
  job: JobResult,
): Promise<Failure> {
  const { failureOfJob } = await load();
  return await failureOfJob(session, context, job);
}

/** The failure of a step whose request or response differs from an API description. */
export async function violationFailure(
  session: Session,
  context: StepContext,
  violation: ContractViolation,
): Promise<Failure> {
  const { failureOfViolation } = await load();
  return await failureOfViolation(session, context, violation);
}
