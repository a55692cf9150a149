import { fromFileUrl } from "@std/path/from-file-url";
import { Ajv2020 } from "ajv/dist/2020.js";

const DOCS = fromFileUrl(new URL("../../../docs/", import.meta.url));

/** A schema of docs/ that forbids unknown fields here, so that it must describe all of them. */
export async function readClosedSchema(name: string): Promise<unknown> {
  return closed(JSON.parse(await Deno.readTextFile(`${DOCS}${name}`)));
}

function closed(schema: unknown): unknown {
  if (typeof schema !== "object" || schema === null) return schema;
  if (Array.isArray(schema)) return schema.map(closed);
  const parts = Object.fromEntries(
    Object.entries(schema).map(([key, part]) => [key, closed(part)]),
  );
  return "properties" in parts ? { ...parts, additionalProperties: false } : parts;
}

/** Returns the errors of ajv for each document by a JSON Schema of 2020-12. */
export function validateAll(
  schema: unknown,
  documents: Readonly<Record<string, unknown>>,
): Readonly<Record<string, readonly string[]>> {
  const ajv = new Ajv2020({
    allErrors: true,
    strict: true,
    // Text in YAML may be read as one of several types.
    allowUnionTypes: true,
    // Conditions look at keys whose types are given elsewhere.
    strictTypes: false,
  });
  // Editors know these.
  ajv.addVocabulary(["patternErrorMessage", "defaultSnippets"]);
  const validate = ajv.compile(schema as object);
  return Object.fromEntries(
    Object.entries(documents).map(([name, document]) => {
      validate(document);
      const errors = (validate.errors ?? []).map(({ instancePath, message, params }) =>
        `${instancePath} ${message} ${JSON.stringify(params)}`
      );
      return [name, errors];
    }),
  );
}
