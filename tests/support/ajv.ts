import { fromFileUrl } from "@std/path/from-file-url";

const FOLDER = fromFileUrl(new URL("../tools/ajv/", import.meta.url));

/**
 * What ajv finds wrong with each document by a JSON Schema. It runs in a process of its own, whose
 * packages are none of the program's.
 */
export async function validateAll(
  schema: unknown,
  documents: Readonly<Record<string, unknown>>,
): Promise<Readonly<Record<string, readonly string[]>>> {
  const child = new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--quiet", "--frozen", "--config", "deno.json", "validate.ts"],
    cwd: FOLDER,
    stdin: "piped",
    stdout: "piped",
    stderr: "inherit",
  }).spawn();
  const input = new Response(JSON.stringify({ schema, documents })).body!.pipeTo(child.stdin);
  const text = await new Response(child.stdout).text();
  await input;
  return JSON.parse(text);
}
