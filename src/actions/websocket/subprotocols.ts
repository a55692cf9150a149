import { describeValue } from "../../base/value/value.ts";
import type { Value } from "../../action/action.ts";
import { isToken } from "../http/request/http_syntax.ts";

/** The subprotocols that a step offers. */
export function listSubprotocols(value: Value | undefined): string[] {
  return itemsOf(value).map(String);
}

/** Describes the problem with the subprotocols of a step; undefined if they are valid. */
export function subprotocolProblem(value: Value | undefined): string | undefined {
  const items = itemsOf(value);
  const wrong = items.find((item) => typeof item === "object" || !isToken(String(item)));
  if (wrong !== undefined) return `invalid name of a subprotocol ${describeValue(wrong)}`;
  const again = items.find((item, index) => items.indexOf(item) < index);
  return again === undefined ? undefined : `the subprotocol "${again}" is given twice`;
}

function itemsOf(value: Value | undefined): readonly Value[] {
  return value === undefined || value === null ? [] : [value].flat();
}
