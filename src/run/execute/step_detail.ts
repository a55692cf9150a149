import type { Dict } from "../../value/value.ts";
import { isDict } from "../../value/value.ts";
import { MASK } from "../../value/masker.ts";
import type { Exchange, StepResult, StepState } from "../event.ts";
import { makeExchange, shown } from "../failure/make_exchange.ts";
import { passedTest } from "../failure/lazy_failures.ts";
import { withoutSecretNames } from "../../value/secrets.ts";
import type { Session } from "../session.ts";
import { type NamedSecrets, namedSecrets, shellText } from "../failure/shell_text.ts";
import type { StepContext } from "./step_context.ts";
import type { Try } from "./try_step.ts";

/** What is kept of a step beside how it came out: of all steps, or of those that failed. */
export async function stepDetail(
  session: Session,
  context: StepContext,
  tried: Try,
  state: StepState,
): Promise<Pick<StepResult, "exchange" | "outputs" | "test">> {
  const { all } = session.detail;
  const { test } = context.step;
  return {
    ...await exchangeOf(session, context, tried, state === "failed"),
    ...all ? publishedBy(session, context) : {},
    ...all && state === "passed" && test
      ? { test: await passedTest(session, test, context.scope) }
      : {},
  };
}

async function exchangeOf(
  session: Session,
  { step }: StepContext,
  { answer, request, partial, params = {} }: Try,
  failed: boolean,
): Promise<{ exchange?: Exchange }> {
  const req = answer?.result.req ?? request;
  if (!req) return {};
  const explainer = await step.action.explainer?.();
  const { res = partial ?? null, brief } = answer?.result ?? {};
  const data = brief === undefined ? { req, res } : { req, res, brief };
  const exchange = makeExchange(session, step.action, data, explainer);
  if (!failed || !explainer?.command) return { exchange };
  const line = explainer.command(req, params);
  const command = shellText(line, namedSecretsOf(session), session.secrets);
  return { exchange: { ...exchange, command } };
}

/** Once for a run, whose environment does not change. */
function namedSecretsOf({ scope, host }: Session): NamedSecrets {
  return scope.resource("named secrets", () => namedSecrets(host.env.all()));
}

/** What the step has published, as it may be shown. */
function publishedBy(session: Session, { step, round }: StepContext): { outputs?: Dict } {
  if (step.id === undefined || step.outputs.length === 0) return {};
  const published = round.outputs.view[step.id];
  if (!isDict(published)) return {};
  return { outputs: shown(session, withoutSecretNames(published, MASK)) as Dict };
}
