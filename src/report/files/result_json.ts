import type { StepResult } from "../../run/event.ts";

/** A result as JSON, whose last field is the exchange where there is one. */
interface ResultText {
  readonly text: string;
  /** Where the exchange begins. */
  readonly exchangeAt?: number;
}

/** Several reports of one run hold the same results, which are most of what they hold. */
const KNOWN = new WeakMap<StepResult, ResultText>();

/** A result as JSON. */
export function resultJson(result: StepResult): string {
  return textOf(result).text;
}

/** Request and response of a result as JSON, where it has them. */
export function exchangeJson(result: StepResult): string | undefined {
  const { text, exchangeAt } = textOf(result);
  return exchangeAt === undefined ? undefined : text.slice(exchangeAt, -1);
}

function textOf(result: StepResult): ResultText {
  let known = KNOWN.get(result);
  if (!known) KNOWN.set(result, known = write(result));
  return known;
}

function write({ exchange, ...rest }: StepResult): ResultText {
  const text = JSON.stringify(rest);
  if (!exchange) return { text };
  const before = `${text.slice(0, -1)},"exchange":`;
  return { text: `${before}${JSON.stringify(exchange)}}`, exchangeAt: before.length };
}
