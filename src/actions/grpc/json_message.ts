import { StepError } from "../../base/errors.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { isDict } from "../../base/value/value.ts";
import type { Dict, Value } from "../../action/action.ts";
import { type DescMessage, fromJson, type Message, type Registry, toJson } from "./protobuf.ts";

/** The message that a step gives. `failure` begins the error if it is wrong. */
export function encodeMessage(
  type: DescMessage,
  value: Value,
  types: Registry,
  failure: string,
  path: string,
): Message {
  checkFields(type, value, failure, path);
  try {
    return fromJson(type, value as never, { registry: types });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    const reason = message.replace(/^cannot decode /, "").replace(/ from JSON(?=:|$)/, "");
    throw problem(`${failure}: ${path}: ${reason}`);
  }
}

/** A message as JSON; `awaited` names it in the StepError of one that cannot be written so. */
export function decodeMessage(
  type: DescMessage,
  message: Message,
  types: Registry,
  awaited: string,
): Value {
  try {
    return toJson(type, message, { registry: types }) as Value;
  } catch (error) {
    throw decodeProblem(type, awaited, error instanceof Error ? error.message : String(error));
  }
}

export function decodeProblem(type: DescMessage, awaited: string, reason: string): StepError {
  return new StepError(
    `cannot read ${awaited}: it is not a ${type.typeName}: ${reason}`,
    "does the server use another version of the .proto files?",
  );
}

function problem(message: string, hint?: string): StepError {
  return new StepError(message, hint, { parameter: "body" });
}

/** Finds unknown fields and values of enums, for which the library has no suggestion. */
function checkFields(type: DescMessage, value: Value, failure: string, path: string): void {
  // These have their own forms in JSON.
  if (!isDict(value) || type.typeName.startsWith("google.protobuf.")) return;
  for (const [key, part] of Object.entries(value)) {
    const field = type.fields.find(({ name, jsonName }) => key === jsonName || key === name);
    const at = `${path}.${key}`;
    if (field) checkField(field, part, failure, at);
    else if (!key.startsWith("[")) throw unknownField(type, key, failure, path);
  }
}

function unknownField(type: DescMessage, key: string, failure: string, path: string): StepError {
  const names = type.fields.map(({ jsonName }) => jsonName);
  const hint = didYouMean(key, [...names, ...type.fields.map(({ name }) => name)]) ??
    (names.length === 0 ? "it has no fields" : `it has ${names.join(", ")}`);
  return problem(
    `${failure}: unknown field "${key}" in ${path}, which is a ${type.typeName}`,
    hint,
  );
}

function checkField(
  field: DescMessage["fields"][number],
  value: Value,
  failure: string,
  path: string,
): void {
  const { message, enum: names } = field;
  const parts: readonly (readonly [string, Value])[] = field.fieldKind === "list"
    ? Array.isArray(value) ? value.map((part, at) => [`${path}[${at}]`, part] as const) : []
    : field.fieldKind === "map"
    ? Object.entries(isDict(value) ? value as Dict : {}).map((
      [key, part],
    ) => [`${path}.${key}`, part])
    : [[path, value]];
  for (const [at, part] of parts) {
    if (message) checkFields(message, part, failure, at);
    if (names && typeof part === "string" && names.typeName !== "google.protobuf.NullValue") {
      const known = names.values.map(({ name }) => name);
      if (known.includes(part) || /^-?\d+$/.test(part)) continue;
      throw problem(
        `${failure}: unknown value "${part}" for ${at}, which is a ${names.typeName}`,
        didYouMean(part, known) ?? `it has ${known.join(", ")}`,
      );
    }
  }
}
