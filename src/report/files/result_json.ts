import type { StepResult } from "../../run/event.ts";

/** A result as JSON, in parts that reports put together as they need. */
export interface ResultText {
  /** The result without its exchange. */
  readonly bare: StepResult;
  /** The same as JSON. */
  readonly rest: string;
  readonly exchange?: string;
}

/** A result as JSON. */
export function resultJson({ rest, exchange }: ResultText): string {
  return exchange === undefined ? rest : `${rest.slice(0, -1)},"exchange":${exchange}}`;
}

/** The parts of a result as JSON. */
export function resultText(result: StepResult): ResultText {
  if (result !== last) {
    last = result;
    lastText = write(result);
  }
  return lastText!;
}

/** Each result comes to several reports in turn. */
let last: StepResult | undefined;
let lastText: ResultText | undefined;

function write(result: StepResult): ResultText {
  const { exchange, ...rest } = result;
  if (!exchange) return { bare: result, rest: JSON.stringify(result) };
  return { bare: rest, rest: JSON.stringify(rest), exchange: JSON.stringify(exchange) };
}
