import type { StepResult } from "../../run/event.ts";

/** A result as JSON, in parts that reports put together as they need. */
export interface ResultText {
  /** The result without its exchange. */
  readonly bare: StepResult;
  /** The same as JSON. */
  readonly rest: string;
  readonly exchange?: string;
  /** Whether the exchange has signs in it that HTML or XML would take for something else. */
  readonly hasMarkup?: boolean;
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
  if (!result.exchange) return { bare: result, rest: JSON.stringify(result) };
  const { exchange, ...bare } = result;
  const text = JSON.stringify(exchange);
  const hasMarkup = MARKUP.some((sign) => text.includes(sign));
  return { bare, rest: JSON.stringify(bare), exchange: text, hasMarkup };
}

/** The last two are not allowed in XML at all. */
const MARKUP = ["<", "&", ">", "\ufffe", "\uffff"];
