/**
 * Validates documents by a JSON Schema, 2020-12. Reads `{schema, documents}` as JSON from its input
 * and prints, for each document by its name, what is wrong with it.
 *
 * @module
 */
import { Ajv2020 } from "ajv";

const { schema, documents } = JSON.parse(await new Response(Deno.stdin.readable).text());
const ajv = new Ajv2020({
  allErrors: true,
  strict: true,
  // Of several types is what YAML reads as one or the other.
  allowUnionTypes: true,
  // Conditions look at keys whose types are said elsewhere.
  strictTypes: false,
});
// Editors know these.
ajv.addVocabulary(["patternErrorMessage", "defaultSnippets"]);
const validate = ajv.compile(schema);
const reported: Record<string, string[]> = {};
for (const [name, document] of Object.entries(documents)) {
  validate(document);
  reported[name] = (validate.errors ?? []).map(({ instancePath, message, params }) =>
    `${instancePath} ${message} ${JSON.stringify(params)}`
  );
}
await new Response(JSON.stringify(reported)).body!.pipeTo(Deno.stdout.writable);
