import { StepError } from "../../base/errors.ts";
import { isDict, type Value } from "../../base/value/value.ts";
import type { SecretSink } from "../../action/action.ts";
import { excerpt } from "../../action/excerpt.ts";
import { dataIn } from "../../base/value/parse_json.ts";

/** A message as it came, and as steps see it. */
export interface Message {
  /** Its text; undefined if it is binary. */
  readonly text: string | undefined;
  /** Objects and lists of JSON are data, `{ base64: … }` are bytes, and anything else is text. */
  readonly value: Value;
}

/** Reads a message that came. */
export function readMessage(data: Uint8Array, isBinary: boolean): Message {
  if (isBinary) return { text: undefined, value: { base64: data.toBase64() } };
  const text = new TextDecoder().decode(data);
  return { text, value: dataIn(text) };
}

/** A message to send: text, JSON, or bytes; undefined where nothing is to be sent. */
export function writeMessage(value: Value | undefined): string | Uint8Array | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  if (typeof value !== "object") return String(value);
  if (isDict(value) && Object.keys(value).length === 1 && typeof value.base64 === "string") {
    try {
      return Uint8Array.fromBase64(value.base64);
    } catch {
      const message = 'cannot run websocket: "base64" in "send" is not base64';
      throw new StepError(message, undefined, { parameter: "send" });
    }
  }
  return JSON.stringify(value);
}

/** A message in one line of an error. */
export function messageText({ text, value }: Message, secrets: SecretSink): string {
  const short = excerpt(text ?? JSON.stringify(value), secrets);
  return text !== undefined && typeof value === "string" ? JSON.stringify(short) : short;
}
