import { join } from "@std/path/join";
import { findLiteralSecrets } from "../../check/literal_secrets.ts";
import type { Host } from "../../host/host.ts";
import type { FoundSecret } from "../../openapi/gen/hide_secrets.ts";
import { makeWorkflow } from "../../openapi/gen/make_workflow.ts";
import { readApi } from "../../openapi/gen/read_api.ts";
import { readTextFile } from "../../workflow/read_files.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { logLevel } from "../output_mode.ts";
import { refuseExisting, writeTextFile } from "../write_text_file.ts";
import { printWarnings } from "../messages.ts";
import { countDraft, printWritten, runHint } from "./print_written.ts";

/** Prints a workflow that calls every operation of an OpenAPI description, or writes it. */
export async function genCommand(
  { operands, switches, values }: Invocation,
  program: Program,
): Promise<ExitCode> {
  const { host } = program;
  const level = logLevel(host.env, switches);
  const path = operands[0]!;
  const out = values.get("out");
  const mayOverwrite = switches.has("force");
  if (out !== undefined && !mayOverwrite) await refuseExisting(out, host);
  const read = (name: string) => readTextFile(name, host, "OpenAPI file");
  const api = await readApi(path, read);
  const description = out === undefined ? path : relativePath(path, out, host);
  const { text, draft, environment, notes } = makeWorkflow(
    api,
    findSecrets,
    description,
    fileName(path),
  );
  const warnings = notes.map((message) =>
    ({ severity: "warning", code: "openapi", message }) as const
  );
  printWarnings(warnings, level, program);
  if (out === undefined) host.stdout.write(text);
  else {
    await writeTextFile(out, text, host);
    printWritten(out, countDraft(draft), runHint(out, environment), level, host);
  }
  return 0;
}

/** A path as a workflow names it: from the directory of its own file. */
function relativePath(path: string, from: string, { files }: Host): string {
  const absolute = (one: string) =>
    /^(?:\/|[a-z]:)/i.test(one) ? one : `${files.workingDirectory()}/${one}`;
  const partsOf = (one: string) => join(absolute(one)).split(/[\\/]/);
  const [target, directory] = [partsOf(path), partsOf(from).slice(0, -1)];
  const common = target.findIndex((part, at) => part !== directory[at]);
  return [...directory.slice(common).map(() => ".."), ...target.slice(common)].join("/");
}

/** The findings of `runner check`. */
function findSecrets(workflow: unknown): readonly FoundSecret[] {
  return findLiteralSecrets(workflow, [{ text: JSON.stringify(workflow) }]);
}

function fileName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}
