import type { JobResult } from "../../action/action.ts";
import type { Expression, Scope } from "../../expr/expression.ts";
import type { Failure, PassedTest } from "../event.ts";
import type { StepContext } from "../execute/step_context.ts";
import type { Owner } from "./make_failure.ts";
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
  test: Expression,
  given: AttemptInput,
): Promise<Failure> {
  const { failureOfTest } = await load();
  return await failureOfTest(session, context, test, given);
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
