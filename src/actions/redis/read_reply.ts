import { readInteger, type Value } from "../../base/value/value.ts";

/** A reply as steps see it, and the error reply inside it, if there is one. */
export interface RedisReply {
  readonly value: Value;
  readonly error?: Error;
}

/** Integers are text in the replies of the library, strings are bytes. */
export function readReply(reply: unknown): RedisReply {
  let error: Error | undefined;
  const toValue = (part: unknown): Value => {
    if (Array.isArray(part)) return part.map(toValue);
    if (part instanceof Error) {
      error ??= part;
      return part.message;
    }
    if (part instanceof Uint8Array) return readBytes(part);
    if (part === null || part === undefined) return null;
    const text = String(part);
    return /^-?\d+$/.test(text) ? readInteger(text) ?? text : text;
  };
  const value = toValue(reply);
  return error ? { value, error } : { value };
}

/** Text, or `{ base64: … }` of bytes that are not UTF-8. */
function readBytes(bytes: Uint8Array): Value {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return { base64: bytes.toBase64() };
  }
}
