import type { Dict } from "../value/value.ts";
import { isDict } from "../value/value.ts";
import { MASK } from "../value/masker.ts";
import { isSecretHeader, isSecretName } from "../value/secret_names.ts";
import type { Exchange, StepResult, StepState } from "./event.ts";
import { makeExchange, shown } from "./exchange.ts";
import { passedTest } from "./failure.ts";
import type { Session } from "./session.ts";
import { type NamedSecrets, namedSecrets, shellText } from "./shell_text.ts";
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
  { answer, request }: Try,
  failed: boolean,
): Promise<{ exchange?: Exchange }> {
  const req = answer?.result.req ?? request;
  if (!req) return {};
  const exchange = makeExchange(session, req, answer?.result.res ?? null);
  const { repeat } = step.action;
  if (!failed || !repeat) return { exchange };
  const groups = (await repeat())(req);
  const named = namedSecrets(session.host.env.all());
  const safe = groups.map((words) => words.map((word) => withoutSecretHeader(word, named)));
  return { exchange: { ...exchange, command: shellText(safe, named, session.secrets) } };
}

/** What a secret header holds beside a secret that has a name may be another one. */
function withoutSecretHeader(word: string, named: NamedSecrets): string {
  const [, header, value] = /^([\w-]+): (.*)$/s.exec(word) ?? [];
  if (header === undefined || value === undefined || !isSecretHeader(header)) return word;
  const rest = named.reduce((text, [, secret]) => text.replaceAll(secret, ""), value);
  return /^[A-Za-z]*\s*$/.test(rest) ? word : `${header}: ${MASK}`;
}

/** What the step has published, as it may be shown. */
function publishedBy(session: Session, { step, round }: StepContext): { outputs?: Dict } {
  if (step.id === undefined || step.outputs.length === 0) return {};
  const published = round.outputs.view[step.id];
  if (!isDict(published)) return {};
  const open = Object.entries(published).map(([name, value]) =>
    [name, isSecretName(name) ? MASK : value] as const
  );
  return { outputs: shown(session, Object.fromEntries(open)) as Dict };
}
