import type { Attempt, StepResult } from "../../run/event.ts";
import { parseExactly } from "../../base/value/parse_json.ts";

/** A result as JSON, in parts that reports put together as they need. */
export interface ResultText {
  /** The result without its exchange and the details of its attempts. */
  readonly bare: StepResult;
  /** The same as JSON. */
  readonly rest: string;
  readonly exchange?: string;
  /** Its attempts with their details, where any has some. */
  readonly attempts?: string;
  /** Whether the others contain characters that have a meaning in HTML or XML. */
  readonly hasMarkup?: boolean;
}

/** A result as JSON. */
export function resultJson({ rest, exchange, attempts }: ResultText): string {
  // Of a name that is there twice, the last one counts; but no reader should have to know that.
  const base = attempts === undefined ? rest : JSON.stringify({
    ...parseExactly<StepResult>(rest),
    attempts: parseExactly(attempts),
  });
  return exchange === undefined ? base : `${base.slice(0, -1)},"exchange":${exchange}}`;
}

/** The parts of a result as JSON. */
export function resultText(result: StepResult): ResultText {
  const { exchange, ...others } = result;
  const isDetailed = result.attempts.some(({ detail }) => detail);
  if (!exchange && !isDetailed) return { bare: result, rest: JSON.stringify(result) };
  const bare = isDetailed ? { ...others, attempts: result.attempts.map(withoutDetail) } : others;
  const texts = {
    ...exchange ? { exchange: JSON.stringify(exchange) } : {},
    ...isDetailed ? { attempts: JSON.stringify(result.attempts) } : {},
  };
  const hasMarkup = Object.values(texts).some((text) => MARKUP.some((sign) => text.includes(sign)));
  return { bare, rest: JSON.stringify(bare), ...texts, hasMarkup };
}

function withoutDetail({ detail: _, ...attempt }: Attempt): Attempt {
  return attempt;
}

/** The last two are not allowed in XML at all. */
const MARKUP = ["<", "&", ">", "\ufffe", "\uffff"];
