import { fromFileUrl } from "@std/path/from-file-url";
import { askTool } from "./ask_tool.ts";

const FOLDER = fromFileUrl(new URL("../tools/ajv/", import.meta.url));

/** What ajv finds wrong with each document by a JSON Schema. */
export function validateAll(
  schema: unknown,
  documents: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, readonly string[]>>> {
  return askTool(FOLDER, ["--frozen", "--config", "deno.json", "validate.ts"], {
    schema,
    documents,
  });
}
