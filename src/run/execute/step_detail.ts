import { boundPart, boundValue } from "../../secrets/bound_value.ts";
import { MASK, type Masker } from "../../secrets/masker.ts";
import type { Expression, Scope } from "../../expr/expression.ts";
import { parseExactly } from "../../base/value/parse_json.ts";
import { isDict } from "../../base/value/value.ts";
import type { Dict } from "../../base/value/value.ts";
import type { Assertion } from "../../workflow/model.ts";
import type {
  Attempt,
  AttemptDetail,
  Exchange,
  MessageView,
  PassedTest,
  StepResult,
  StepState,
} from "../event.ts";
import type {
  Action,
  ActionExplainer,
  ActionResult,
  ExchangeDescription,
  MessageDescription,
} from "../../action/action.ts";
import { hideFields } from "../../secrets/add_secrets.ts";
import { explainer } from "../failure/lazy_failures.ts";
import { roundDuration } from "../../base/value/duration.ts";
import { withoutSecretNames } from "../../secrets/secrets.ts";
import type { Session } from "../session.ts";
import { type NamedSecrets, namedSecrets, shellText } from "../failure/shell_text.ts";
import type { StepContext } from "./step_context.ts";
import { phasesOf, type Try } from "./try_step.ts";

/** Details of a step besides its outcome: of all steps, or of failed ones. */
export async function stepDetail(
  session: Session,
  context: StepContext,
  tried: Try,
  state: StepState,
): Promise<Pick<StepResult, "exchange" | "outputs" | "tests">> {
  const { all } = session.detail;
  const { test } = context.step;
  return {
    ...await exchangeOf(session, context, tried, state === "failed"),
    ...all ? publishedBy(session, context) : {},
    ...all && test && tried.assertions ? await passedTests(session, context, test) : {},
  };
}

/** Bounds of the attempts before the last one, whose details come on top of those of the step. */
const ATTEMPT = { latest: 9, limit: 4096, image: 200_000 } as const;

/** What is kept of an attempt that another one follows. */
export async function attemptDetail(
  session: Session,
  context: StepContext,
  tried: Try,
): Promise<AttemptDetail> {
  const { detail } = session;
  const bounded = { ...detail, limit: Math.min(detail.limit, ATTEMPT.limit) };
  const { answer, failures } = tried;
  const { exchange } = await exchangeOf({ ...session, detail: bounded }, context, tried, false);
  const kept: AttemptDetail = {
    failures,
    ...answer ? { responseTime: roundDuration(answer.elapsed) } : {},
    ...phasesOf(tried),
    ...exchange ? { exchange: withSmallImages(exchange) } : {},
  };
  // A copy, because the part of a text keeps the whole of it in memory.
  return parseExactly(JSON.stringify(kept));
}

/**
 * Takes out of attempts what has become secret since: the outputs of a step, which are secret by
 * their names, are known only after the last one.
 */
export function maskedAgain(secrets: Masker, attempts: readonly Attempt[]): Attempt[] {
  const mask = <T>(value: T): T =>
    boundPart(value, { left: Infinity }, (text, from, to) => secrets.mask(text, from, to)) as T;
  return attempts.map(({ message, detail, ...attempt }) => ({
    ...attempt,
    ...message === undefined ? {} : { message: secrets.mask(message) },
    ...detail
      ? {
        detail: {
          ...detail,
          failures: detail.failures.map(({ place, ...failure }) => ({
            ...mask(failure),
            ...place ? { place } : {},
          })),
          ...detail.exchange ? { exchange: maskedExchange(detail.exchange, mask) } : {},
        },
      }
      : {},
  }));
}

/** Images are not texts. */
function maskedExchange({ view, ...exchange }: Exchange, mask: <T>(value: T) => T): Exchange {
  if (!view) return mask(exchange);
  const { request, response } = view;
  const masked = (message: MessageView): MessageView => {
    const { images, ...texts } = message;
    return { ...mask(texts), ...images ? { images } : {} };
  };
  return {
    ...mask(exchange),
    view: {
      ...request ? { request: masked(request) } : {},
      ...response ? { response: masked(response) } : {},
    },
  };
}

/** Takes the details of one in the middle away, so that a step that polls for hours stays small. */
export function withoutMiddle(attempts: Attempt[]): void {
  const index = attempts.length - 1 - ATTEMPT.latest;
  const old = attempts[index];
  if (index < 1 || !old) return;
  const { detail: _, ...brief } = old;
  attempts[index] = brief;
}

function withSmallImages({ view, ...exchange }: Exchange): Exchange {
  if (!view) return exchange;
  const { response = {} } = view;
  const images = response.images?.filter(({ data }) => data.length <= ATTEMPT.image);
  return { ...exchange, view: images ? { ...view, response: { ...response, images } } : view };
}

/** The tests that came out true, also beside others that did not. */
async function passedTests(
  session: Session,
  { scope }: StepContext,
  test: readonly Assertion[],
): Promise<Pick<StepResult, "tests">> {
  const tests: PassedTest[] = [];
  const { describePassedTest } = await explainer();
  for (const { expression } of test) {
    if (isSurelyTrue(expression, scope)) tests.push(describePassedTest(session, expression, scope));
  }
  return tests.length === 0 ? {} : { tests };
}

function isSurelyTrue(expression: Expression, scope: Scope): boolean {
  try {
    return expression.evaluate(scope) === true;
  } catch {
    return false; // It is a failure of the step already.
  }
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
  if (!(failed || session.detail.all) || !explainer?.command) return { exchange };
  const line = explainer.command(req, params);
  const command = shellText(line, namedSecretsOf(session), session.secrets);
  return { exchange: { ...exchange, command } };
}

/** Once for a run, whose environment does not change. */
function namedSecretsOf({ scope, host }: Session): NamedSecrets {
  return scope.resource("named secrets", () => namedSecrets(host.env.all()));
}

/** The outputs of the step, bounded and masked. */
function publishedBy(session: Session, { step, round }: StepContext): { outputs?: Dict } {
  if (step.id === undefined || step.outputs.length === 0) return {};
  const published = round.outputs.view[step.id];
  if (!isDict(published)) return {};
  return { outputs: shown(session, withoutSecretNames(published, MASK)) as Dict };
}

/** The data of an exchange; a step that timed out may have no result. */
interface ExchangeData extends Pick<ActionResult, "req" | "brief"> {
  readonly res: Dict | null;
}

/** Request and response as they may be shown: without secrets, and no longer than asked for. */
function makeExchange(
  session: Session,
  { parameters = [], responseFields = [] }: Action,
  { req, res, brief }: ExchangeData,
  explainer: ActionExplainer | undefined,
): Exchange {
  const { request, response }: ExchangeDescription = explainer?.describe?.(req, res) ?? {};
  const view = {
    ...request ? { request: viewOf(session, request) } : {},
    ...response ? { response: viewOf(session, response) } : {},
  };
  return {
    req: shown(session, hideFields(request?.kept ?? req, parameters)),
    res: res && shown(session, hideFields(response?.kept ?? res, responseFields)),
    ...brief === undefined ? {} : { brief: session.secrets.mask(brief) },
    ...Object.keys(view).length === 0 ? {} : { view },
  };
}

function viewOf(
  session: Session,
  { title, covered = [], asJson = [], asTable = [], minor = [], images = [] }: MessageDescription,
): MessageView {
  return {
    ...title === undefined ? {} : { title: String(shown(session, { title }).title) },
    ...covered.length === 0 ? {} : { covered },
    ...asJson.length === 0 ? {} : { asJson },
    ...asTable.length === 0 ? {} : { asTable },
    // A name may hold a secret, too.
    ...minor.length === 0
      ? {}
      : { minor: minor.map((path) => path.map((name) => session.secrets.mask(name))) },
    ...images.length === 0
      ? {}
      : { images: images.map(({ name, data }) => ({ name: session.secrets.mask(name), data })) },
  };
}

/** A map as it may be shown: without secrets, each field bounded. */
function shown({ secrets, detail }: Session, message: Dict): Dict {
  return boundValue(
    message,
    detail.limit,
    (text, from, to) => secrets.mask(text, from, to),
  ) as Dict;
}
