import type { Value } from "../../action/action.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import { textOf } from "../../action/parameter.ts";
import { StepError } from "../../base/errors.ts";
import { dataIn, jsonOrText } from "../../base/value/parse_json.ts";

/** The headers of a message with their values: those that a step sets, and that of its trace. */
export function headersOf(
  headers: Readonly<Record<string, string | readonly Value[] | undefined>> = {},
  { context: { trace } }: ActionAttempt,
): readonly (readonly [name: string, values: string[]])[] {
  return Object.entries({ ...trace?.header(headers), ...headers }).flatMap(([name, values]) =>
    values === undefined ? [] : [[name, [values].flat().map(textOf)] as const]
  );
}

/** The bytes of the message that a step publishes; empty without a content. */
export async function contentOf(
  { json, body, file }: { readonly json?: Value; readonly body?: Value; readonly file?: string },
  attempt: ActionAttempt,
): Promise<Uint8Array> {
  if (file !== undefined) return await attempt.read(file, "file");
  const isText = json === undefined && (typeof body !== "object" || body === null);
  const content = isText ? String(body ?? "") : encodeJson(json ?? body!);
  return new TextEncoder().encode(content);
}

function encodeJson(value: Value): string {
  return JSON.stringify(value, (_, part) => {
    if (typeof part !== "number" || Number.isFinite(part)) return part;
    throw new StepError(`the message contains ${part}, a number that JSON does not have`);
  });
}

/** A content as steps see it: `body` is data of JSON, or text; both are bytes if it is no text. */
export function readContent(bytes: Uint8Array, isJson = false): { body: Value; raw: Value } {
  const raw = textOrBytes(bytes);
  if (typeof raw !== "string") return { body: raw, raw };
  return { body: isJson ? jsonOrText(raw) : dataIn(raw), raw };
}

/** Text, or `{ base64: … }` of bytes that are not UTF-8. */
export function textOrBytes(bytes: Uint8Array): Value {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { base64: bytes.toBase64() };
  }
}
