import { fromFileUrl } from "@std/path/from-file-url";
import { askTool } from "./ask_tool.ts";

const DIRECTORY = fromFileUrl(new URL("../../tools/ajv/", import.meta.url));

/** Returns the errors of ajv for each document by a JSON Schema. */
export function validateAll(
  schema: unknown,
  documents: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, readonly string[]>>> {
  return askTool(DIRECTORY, ["--frozen", "--config", "deno.json", "validate.ts"], {
    schema,
    documents,
  });
}
