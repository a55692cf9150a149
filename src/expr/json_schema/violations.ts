import { countOf } from "../../base/text/count_of.ts";
import type { ErrorObject } from "./ajv.ts";
import { formatJson } from "../../base/value/format_value.ts";
import type { Mismatch } from "../../base/value/mismatch.ts";
import { isDict, readField, type Value } from "../../base/value/value.ts";
import { follow, ORIGIN } from "./schema_tree.ts";

/** A violation of a schema. */
export interface SchemaMismatch extends Mismatch {
  /** The value of `ORIGIN` in the violated part of the schema. */
  readonly origin?: unknown;
}

/** The errors of ajv for a value, each with its place, without those that only repeat others. */
export function violationsOf(errors: readonly ErrorObject[], value: Value): SchemaMismatch[] {
  const seen = new Set<string>();
  return errors.flatMap((error) => {
    // It repeats that "then" or a name was wrong, which another error describes.
    if (error.keyword === "if" || error.keyword === "propertyNames") return [];
    const violation = violationOf(error, value);
    const key = JSON.stringify([violation.path, violation.expected]);
    if (seen.has(key)) return [];
    seen.add(key);
    return { ...violation, origin: error.parentSchema?.[ORIGIN] };
  });
}

function violationOf(error: ErrorObject, value: Value): Mismatch {
  const { keyword, instancePath, params, propertyName } = error;
  const { path, at } = follow(value, instancePath);
  const branch = /\/(anyOf|oneOf)\/(\d+)\//.exec(error.schemaPath);
  const note = [
    ...propertyName === undefined ? [] : [`the name ${JSON.stringify(propertyName)}`],
    ...branch ? [`by ${branch[1]}[${branch[2]}]`] : [],
  ].join(", ");
  const noted = note === "" ? {} : { note };
  switch (keyword) {
    case "required":
    case "dependentRequired":
    case "dependencies": {
      const name = String(params.missingProperty);
      const inside = isDict(at) ? readField(at, name) : undefined;
      return { path: [...path, name], expected: "required", actual: inside, ...noted };
    }
    case "additionalProperties":
    case "unevaluatedProperties": {
      const name = String(params.additionalProperty ?? params.unevaluatedProperty);
      const actual = isDict(at) ? readField(at, name) : undefined;
      return { path: [...path, name], expected: "no such property", actual, ...noted };
    }
  }
  return { path, expected: expectedBy(error), actual: at, ...noted };
}

/** Describes the requirement of a keyword. */
function expectedBy({ keyword, params, message = keyword }: ErrorObject) {
  switch (keyword) {
    case "type":
      return `type ${[params.type].flat().join(" or ")}`;
    case "enum":
      return `one of ${formatJson(params.allowedValues)}`;
    case "const":
      return formatJson(params.allowedValue);
    case "pattern":
      return `/${params.pattern}/`;
    case "format":
      return `format ${params.format}`;
    case "uniqueItems":
      return "items that differ";
    case "false schema":
      return "nothing";
    case "oneOf":
      return params.passingSchemas
        ? `one schema of oneOf, not those at ${[params.passingSchemas].flat().join(" and ")}`
        : "one schema of oneOf";
    case "anyOf":
      return "a schema of anyOf";
    case "not":
      return 'nothing that "not" describes';
    case "contains": {
      const { minContains: min, maxContains: max } = params;
      const count = max === undefined ? `at least ${min}` : `${min} to ${max}`;
      return `${count} item${(max ?? min) === 1 ? "" : "s"} that "contains" describes`;
    }
    case "items":
    case "additionalItems":
    case "unevaluatedItems":
      return bound("maxItems", params.limit, "item");
    case "minLength":
    case "maxLength":
      return bound(keyword, params.limit, "character");
    case "minItems":
    case "maxItems":
      return bound(keyword, params.limit, "item");
    case "minProperties":
    case "maxProperties":
      return bound(keyword, params.limit, "key");
    case "multipleOf":
      return `a multiple of ${params.multipleOf}`;
    default:
      return message.replace(/^must (be |have )?/, "");
  }
}

function bound(keyword: string, limit: number, unit: string): string {
  const relation = keyword.startsWith("min") ? "at least" : "at most";
  return `${relation} ${countOf(limit, unit)}`;
}
