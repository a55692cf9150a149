import { join } from "@std/path/join";
import { findDraftSecrets } from "../../check/literal_secrets.ts";
import { LoadError } from "../../base/errors.ts";
import { countOf } from "../../base/text/count_of.ts";
import { printableLine } from "../../base/text/printable.ts";
import { shellWord } from "../../base/text/shell_word.ts";
import { type Dict, isDict } from "../../base/value/value.ts";
import { readYaml } from "../../base/yaml/read_yaml.ts";
import type { Host } from "../../host/host.ts";
import { type Existing, readExisting } from "../../openapi/gen/existing.ts";
import { makeWorkflow } from "../../openapi/gen/make_workflow.ts";
import { readApi } from "../../openapi/gen/read_api.ts";
import { readTextFile } from "../../workflow/read_files.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { logLevel } from "../output_mode.ts";
import {
  countDraft,
  printWritten,
  refuseExisting,
  runHint,
  writeTextFile,
} from "../write_text_file.ts";
import { printWarnings } from "../messages.ts";

/**
 * Prints a workflow that calls every operation of an OpenAPI description, or writes it. With a
 * workflow that is there, only the operations that it lacks.
 */
export async function genCommand(
  { operands: [path = "", workflow], switches, values }: Invocation,
  program: Program,
): Promise<ExitCode> {
  const { host } = program;
  const level = logLevel(host.env, switches);
  const out = values.get("out");
  if (out !== undefined && !switches.has("force")) {
    await refuseExisting(
      out,
      host,
      `overwrite it with --force, or print what it lacks: runner gen ${shellWord(path)} ${
        shellWord(out)
      }`,
    );
  }
  const api = await readApi(path, (name) => readTextFile(name, host, "OpenAPI file"));
  const existing = workflow === undefined
    ? undefined
    : readExisting(await readWorkflow(workflow, host), api.operations, api.server);
  const operations = existing?.missing ?? api.operations;
  const from = out ?? workflow;
  const description = from === undefined ? path : relativePath(path, from, host);
  const { text, draft, environment, notes } = makeWorkflow(
    { ...api, operations },
    findDraftSecrets,
    description,
    fileName(path),
    existing?.ids,
  );
  const isQuiet = level !== "info" && level !== "debug";
  if (existing && !isQuiet) host.stderr.write(renderExisting(workflow!, existing));
  if (operations.length === 0) return 0;
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

async function readWorkflow(path: string, host: Host): Promise<Dict> {
  const { value } = await readYaml([await readTextFile(path, host, "workflow file")]);
  if (isDict(value) && Array.isArray(value.jobs)) return value;
  throw new LoadError(`'${path}' is not a workflow: it has no list of jobs`);
}

/** Lists the operations that a workflow does not call, and those that no longer exist. */
function renderExisting(workflow: string, { missing, gone }: Existing): string {
  const counts = [
    missing.length === 0
      ? "no operation is missing"
      : `${countOf(missing.length, "operation")} missing`,
    ...gone.length === 0 ? [] : [`${gone.length} gone`],
  ];
  const lines = [
    `${workflow}: ${counts.join(", ")}`,
    ...missing.map(({ method, path }) => `  missing  ${method.toUpperCase()} ${path}`),
    ...gone.map((one) => `  gone     ${one}`),
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

function fileName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}
