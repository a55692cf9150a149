import { parseJson } from "../value/parse_json.ts";
import type { Value } from "./action.ts";

/** The data in a text that has no type: objects and lists of JSON; anything else is the text. */
export function dataIn(text: string): Value {
  if (!/^\s*[[{]/.test(text)) return text;
  try {
    return parseJson(text) as Value;
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof RangeError) return text;
    throw error;
  }
}
