import { join } from "@std/path/join";
import { findLiteralSecrets } from "../../check/literal_secrets.ts";
import { countOf } from "../../base/text/count_of.ts";
import { printableLine } from "../../base/text/printable.ts";
import { type Dict, isDict } from "../../base/value/value.ts";
import type { Document } from "../../base/yaml/document.ts";
import { readYaml } from "../../base/yaml/read_yaml.ts";
import type { Host } from "../../host/host.ts";
import { Existing } from "../../openapi/gen/existing.ts";
import type { FoundSecret } from "../../openapi/gen/hide_secrets.ts";
import { makeWorkflow } from "../../openapi/gen/make_workflow.ts";
import { mergeWorkflow } from "../../openapi/gen/merge_workflow.ts";
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
  const file = out === undefined || switches.has("force")
    ? undefined
    : await readExisting(out, host);
  const read = (name: string) => readTextFile(name, host, "OpenAPI file");
  const api = await readApi(path, read);
  const description = out === undefined ? path : relativePath(path, out, host);
  const existing = file && new Existing(file.value as Dict, api.operations, api.server);
  // The workflow of something else is not added to.
  if (existing && !existing.isOf(api.operations)) await refuseExisting(out!, host);
  const made = makeWorkflow(api, findSecrets, description, fileName(path), existing);
  const warnings = made.notes.map((message) =>
    ({ severity: "warning", code: "openapi", message }) as const
  );
  printWarnings(warnings, level, program);
  if (out === undefined) {
    host.stdout.write(made.text);
    return 0;
  }
  const merged = file && existing && mergeWorkflow(file.files[0]!, existing, api, made);
  if (!merged) {
    await writeTextFile(out, made.text, host);
    printWritten(out, countDraft(made.draft), runHint(out, made.environment), level, host);
    return 0;
  }
  if (merged.added.length > 0) await writeTextFile(out, merged.text, host, { mayBeInput: true });
  if (level === "info" || level === "debug") {
    host.stderr.write(renderMerged(out, merged, existing, description));
  }
  return 0;
}

/** The workflow in a file that is there; undefined if there is none. Throws LoadError. */
async function readExisting(path: string, host: Host): Promise<Document | undefined> {
  if (!await host.files.isFile(path).catch(() => false)) return undefined;
  const source = await readTextFile(path, host, "workflow file");
  const document = /^\s*jobs\s*:/m.test(source.text) ? readYaml([source]) : undefined;
  if (document && isDict(document.value) && Array.isArray(document.value.jobs)) return document;
  await refuseExisting(path, host);
  return undefined;
}

/** What was added to a workflow, and what of it no longer fits the description. */
function renderMerged(
  out: string,
  { added, changed, gone, environment }: ReturnType<typeof mergeWorkflow>,
  existing: Existing,
  description: string,
): string {
  const counts = [
    added.length === 0 ? "nothing to add" : `${countOf(added.length, "operation")} added`,
    ...changed.length === 0 ? [] : [`${changed.length} changed`],
    ...gone.length === 0 ? [] : [`${gone.length} gone`],
  ];
  const others = [...existing.descriptions()].filter((one) => one !== description);
  const lines = [
    `${out}: ${counts.join(", ")}${added.length === 0 ? "" : `; ${runHint(out, environment)}`}`,
    ...added.map((one) => `  added    ${one}`),
    ...changed.map((one) => `  changed  ${one}`),
    ...gone.map((one) => `  gone     ${one}`),
    ...changed.length + gone.length === 0
      ? []
      : ["  changed and gone steps stay as they are; --force writes the file from scratch"],
    ...others.map((one) =>
      `  its requests are held against ${one}, not ${description}: see "openapi"`
    ),
  ];
  return lines.map((line) => `${printableLine(line)}\n`).join("");
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
