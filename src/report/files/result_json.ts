import type { StepResult } from "../../run/event.ts";

interface ResultText {
  /** Everything but the exchange. */
  readonly rest: string;
  readonly exchange?: string;
}

/** Several reports of one run hold the same results, which are most of what they hold. */
const KNOWN = new WeakMap<StepResult, ResultText>();

/** A result as JSON. */
export function resultJson(result: StepResult): string {
  const { rest, exchange } = textOf(result);
  return exchange === undefined ? rest : `${rest.slice(0, -1)},"exchange":${exchange}}`;
}

/** Request and response of a result as JSON, where it has them. */
export function exchangeJson(result: StepResult): string | undefined {
  return textOf(result).exchange;
}

/**
 * A result without its exchange, which is there as JSON all the same: thousands of exchanges as
 * objects take much more room, and time to look after.
 */
export function packExchange(result: StepResult): StepResult {
  if (!result.exchange) return result;
  const { exchange: _, ...packed } = result;
  KNOWN.set(packed, textOf(result));
  return packed;
}

function textOf(result: StepResult): ResultText {
  let known = KNOWN.get(result);
  if (!known) KNOWN.set(result, known = write(result));
  return known;
}

function write({ exchange, ...rest }: StepResult): ResultText {
  const text = JSON.stringify(rest);
  return exchange ? { rest: text, exchange: JSON.stringify(exchange) } : { rest: text };
}
