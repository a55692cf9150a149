import type { Path } from "../../base/source.ts";
import { describeValue } from "../../base/value/value.ts";
import type { NameRule, Snapshot } from "../model.ts";
import { addError } from "../problem.ts";
import { decodeFields } from "./decode_fields.ts";
import { type Decoding, isRawMap } from "./decode_value.ts";
import { SNAPSHOT } from "./nested_fields.ts";

/** Decodes `snapshot` of a step; undefined where there is none, or a problem was reported. */
export function decodeSnapshot(
  value: unknown,
  path: Path,
  names: NameRule,
  decoding: Decoding,
): Snapshot | undefined {
  const { problems } = decoding;
  if (value === false) return undefined;
  if (value === true) return { ignore: [], match: [] };
  if (!isRawMap(value)) {
    const message = `"snapshot" must be true or a map, not ${describeValue(value)}`;
    addError(problems, "type", path, message);
    return undefined;
  }
  const of = { ...SNAPSHOT.fields.of, names };
  const fields = decodeFields(value, path, {
    ...SNAPSHOT,
    fields: { ...SNAPSHOT.fields, of },
  }, decoding);
  if (!fields) return undefined;
  if (fields.name !== undefined && !SNAPSHOT.fields.name.pattern.test(fields.name)) {
    const message = `the name of a snapshot is made of letters, digits, ".", _ and -, ` +
      `not ${JSON.stringify(fields.name)}`;
    addError(problems, "name", [...path, "name"], message);
  }
  const match = Object.entries(fields.match ?? {}).flatMap(([at, rule]) => {
    if (typeof rule === "string") return [{ path: at, rule }];
    const message = `a rule of "match" must be a string, not ${describeValue(rule)}`;
    addError(problems, "type", [...path, "match", at], message);
    return [];
  });
  return {
    ...fields.of ? { of: fields.of } : {},
    ...fields.name === undefined ? {} : { name: fields.name },
    ignore: fields.ignore ?? [],
    match,
  };
}
