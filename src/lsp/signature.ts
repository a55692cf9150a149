import type { FunctionRecord } from "../expr/functions/function.ts";
import { FUNCTIONS } from "../expr/functions/registry.ts";
import { insertMark, MARK } from "./complete.ts";
import { isExpression } from "./outline.ts";

/** The function whose arguments are being written, and which of them. */
export interface SignatureAt {
  readonly record: FunctionRecord;
  /** The index of the argument, from 0. */
  readonly argument: number;
}

/** The call around an offset of a text, which may be invalid. */
export function signatureAt(text: string, offset: number): SignatureAt | undefined {
  const marked = insertMark(text, offset, offset);
  if (!marked || marked.spot.isKey) return undefined;
  const { path, scalar } = marked.spot;
  const before = scalar.text.slice(0, scalar.text.indexOf(MARK));
  const open = before.lastIndexOf("{{");
  if (open > before.lastIndexOf("}}")) return callAtEnd(before.slice(open + 2));
  return isExpression(path) ? callAtEnd(before) : undefined;
}

const TOKEN =
  /\\?"(?:[^"\\]|\\[^"])*\\?"|\\?'(?:[^'\\]|\\[^'])*\\?'|([A-Za-z_]\w*)?\s*\(|[[{]|[\])}]|,/g;

/** The call that an expression ends in. */
function callAtEnd(expression: string): SignatureAt | undefined {
  const open: { readonly name?: string; argument: number }[] = [];
  for (const { 0: token, 1: name } of expression.matchAll(TOKEN)) {
    const innermost = open.at(-1);
    if (/[([{]$/.test(token)) open.push({ name, argument: 0 });
    else if (/^[\])}]/.test(token)) open.pop();
    else if (token === "," && innermost) innermost.argument++;
  }
  const call = open.findLast(({ name }) => name !== undefined);
  const record = FUNCTIONS.get(call?.name ?? "");
  return call && record && { record, argument: call.argument };
}
