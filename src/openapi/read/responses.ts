import { isJson, preferredType } from "./media.ts";
import type { Reply, RequiredField, Success } from "./model.ts";
import { mapOf, ownOf, type RawMap } from "./raw.ts";
import { requiredFields, typeOf } from "./schema.ts";

/** What is said of the responses that are a success. */
export interface Responses {
  readonly success: Success;
  readonly reply?: Reply;
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

/** Schemas by media type; 2.0 has been brought into this form before. */
function contentOf(response: RawMap): RawMap {
  return mapOf(response.content);
}

/** What a response holds; undefined where it may be no JSON. */
function replyOf(content: RawMap): Reply | undefined {
  const type = preferredType(Object.keys(content));
  if (type === undefined || !isJson(type)) return undefined;
  const schema = mapOf(mapOf(ownOf(content, type)).schema);
  const said = typeOf(schema);
  if (said === "object") return { type: said, schema, required: requiredFields(schema) };
  return { type: said === "array" ? said : "other", schema, required: [] };
}

/** What all the responses have that may come. */
function sharedReply(replies: readonly (Reply | undefined)[]): Reply | undefined {
  const [first, ...others] = replies;
  if (!first) return undefined;
  if (others.length === 0) return first;
  const isSame = others.every((other) => other?.type === first.type);
  const required = isSame ? first.required.flatMap((field) => inAll(field, others)) : [];
  return { type: isSame ? first.type : "other", required, schema: first.schema };
}

function inAll(field: RequiredField, replies: readonly (Reply | undefined)[]): RequiredField[] {
  let { isNullable } = field;
  for (const reply of replies) {
    const same = reply?.required.find(({ name }) => name === field.name);
    if (!same) return [];
    isNullable ||= same.isNullable;
  }
  return [{ name: field.name, isNullable }];
}
