import { Ajv2020 } from "ajv/dist/2020.js";

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
