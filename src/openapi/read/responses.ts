import { isJson, preferredType } from "./media.ts";
import type { ApiReply, RequiredField, Success } from "./api.ts";
import { mapOf, ownOf, type RawApiMap } from "./raw.ts";
import { requiredFields, typeOf } from "./schema.ts";

/** The successful responses of an operation. */
export interface Responses {
  readonly success: Success;
  readonly reply?: ApiReply;
  readonly accept?: string;
}

/** Reads `responses`. */
export function decodeResponses(raw: unknown): Responses {
  const responses = mapOf(raw);
  const success = successOf(Object.keys(responses));
  const documented = keysOf(success).flatMap((key) => {
    const response = ownOf(responses, key);
    return response === undefined ? [] : [mapOf(response)];
  });
  const contents = documented.map(contentOf);
  const type = preferredType(contents.flatMap((content) => Object.keys(content)));
  const accept = type === undefined ? {} : { accept: type };
  const reply = sharedReply(contents.map(replyOf));
  return reply === undefined ? { success, ...accept } : { success, ...accept, reply };
}

function successOf(keys: readonly string[]): Success {
  for (const first of ["2", "3"]) {
    const codes = keys.filter((key) =>
      key.length === 3 && key.startsWith(first) && /^\d+$/.test(key)
    )
      .map(Number).sort((a, b) => a - b);
    if (codes.length > 0) return { kind: "codes", codes };
    if (keys.some((key) => key.toUpperCase() === `${first}XX`)) {
      return { kind: "range", from: Number(first) * 100 };
    }
  }
  return { kind: "any" };
}

function keysOf(success: Success): string[] {
  switch (success.kind) {
    case "codes":
      return success.codes.map(String);
    case "range":
      return [`${success.from / 100}XX`, `${success.from / 100}xx`];
    case "any":
      return ["default"];
  }
}

/** Media types with their schemas; 2.0 has been converted to this form before. */
function contentOf(response: RawApiMap): RawApiMap {
  return mapOf(response.content);
}

/** The content of a response; undefined if it may not be JSON. */
function replyOf(content: RawApiMap): ApiReply | undefined {
  const type = preferredType(Object.keys(content));
  if (type === undefined || !isJson(type)) return undefined;
  const schema = mapOf(mapOf(ownOf(content, type)).schema);
  const keywords = typeOf(schema);
  if (keywords === "object") return { type: keywords, schema, required: requiredFields(schema) };
  return { type: keywords === "array" ? keywords : "other", schema, required: [] };
}

/** The common part of all successful responses. */
function sharedReply(replies: readonly (ApiReply | undefined)[]): ApiReply | undefined {
  const [first, ...others] = replies;
  if (!first) return undefined;
  if (others.length === 0) return first;
  const isSame = others.every((other) => other?.type === first.type);
  const required = isSame ? first.required.flatMap((field) => inAll(field, others)) : [];
  return { type: isSame ? first.type : "other", required, schema: first.schema };
}

function inAll(field: RequiredField, replies: readonly (ApiReply | undefined)[]): RequiredField[] {
  let { isNullable } = field;
  for (const reply of replies) {
    const same = reply?.required.find(({ name }) => name === field.name);
    if (!same) return [];
    isNullable ||= same.isNullable;
  }
  return [{ name: field.name, isNullable }];
}
