import { findLiteralSecrets } from "../../check/secrets/literal_secrets.ts";
import { explainDenial } from "../../host/explain_denial.ts";
import type { Host } from "../../host/host.ts";
import type { FoundSecret } from "../../openapi/make/hide_found_secrets.ts";
import { makeWorkflow } from "../../openapi/make/make_workflow.ts";
import { readApi } from "../../openapi/read/read_api.ts";
import { renderWorkflow } from "../../openapi/make/render_workflow.ts";
import type { ParsedFile, Yaml } from "../../openapi/read/resolve_references.ts";
import { LoadError, UsageError } from "../../source/errors.ts";
import type { Source } from "../../source/source.ts";
import { parseJson } from "../../value/parse_json.ts";
import { readTextFile } from "../../workflow/read_files.ts";
import { printYaml } from "../../workflow/yaml/parse_yaml.ts";
import { findPositions, readYaml } from "../../workflow/yaml/read_yaml.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { logLevel, printWarnings } from "../messages/warnings.ts";

/** Prints a workflow that calls every operation of an OpenAPI description, or writes it. */
export async function genCommand(
  { operands, switches, values }: Invocation,
  program: Program,
): Promise<ExitCode> {
  const { host } = program;
  const level = await logLevel(host.env, switches);
  const path = operands[0]!;
  const out = values.get("out");
  const mayOverwrite = switches.has("force");
  if (mayOverwrite && out === undefined) {
    throw new UsageError("--force requires --out", "give a file to write: --out FILE");
  }
  if (out !== undefined && !mayOverwrite) await refuseExisting(out, host);
  const sources = new Set<string>();
  const api = await readApi(path, {
    async read(name) {
      const source = await readTextFile(name, host, "OpenAPI file");
      if (out !== undefined) sources.add(await realPath(name, host));
      return source;
    },
    yaml: YAML,
  });
  const workflow = makeWorkflow(api, findSecrets);
  const text = renderWorkflow(workflow, fileName(path), YAML);
  const notes = workflow.notes.map((message) =>
    ({ severity: "warning", code: "openapi", message }) as const
  );
  await printWarnings(notes, level, program);
  if (out !== undefined && sources.has(await realPath(out, host))) {
    throw new UsageError(`'${out}' is part of the description`, "write to another file");
  }
  if (out === undefined) host.stdout.write(text);
  else await writeFile(out, text, host);
  return 0;
}

/** The path itself where it leads nowhere: what writes or reads it says why. */
async function realPath(path: string, { files }: Host): Promise<string> {
  return await files.realPath(path).catch(() => path);
}

/** What `runner check` would complain about. */
function findSecrets(workflow: unknown): readonly FoundSecret[] {
  return findLiteralSecrets(workflow, [{ text: JSON.stringify(workflow) }]);
}

/** Descriptions are read as workflows are; JSON by what reads it fastest. */
const YAML: Yaml = {
  parse,
  print: printYaml,
};

async function parse(source: Source): Promise<ParsedFile> {
  const value = /^\s*[[{]/.test(source.text) ? readJson(source.text) : undefined;
  if (value === undefined) return await parseYaml(source);
  return {
    value,
    locate: async (path) => (await findPositions([source], value)).locate(path),
  };
}

/** Undefined if it is not JSON: YAML has mappings in braces too, and reports what is wrong. */
function readJson(text: string): unknown {
  try {
    return parseJson(text);
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

async function parseYaml(source: Source): Promise<ParsedFile> {
  try {
    const document = await readYaml([source], "OpenAPI file");
    return {
      value: document.value,
      locate: async (path) => (await document.positions()).locate(path),
    };
  } catch (error) {
    if (!(error instanceof LoadError) || !source.name.toLowerCase().endsWith(".json")) throw error;
    const message = error.message.replace(/^YAML/, "JSON");
    throw new LoadError(message, error.diagnostics, error.hint);
  }
}

async function refuseExisting(path: string, { files }: Host): Promise<void> {
  // What cannot be looked at cannot be written either, and says why then.
  if (!await files.isFile(path).catch(() => false)) return;
  throw new LoadError(`'${path}' already exists`, [], "overwrite it with --force");
}

async function writeFile(path: string, text: string, { files }: Host): Promise<void> {
  try {
    const file = await files.stage(path);
    try {
      file.write(text);
      file.commit();
    } finally {
      file.discard();
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    const denial = explainDenial(error);
    throw new LoadError(
      `cannot write '${path}': ${denial?.words ?? error.message}`,
      [],
      denial?.hint,
    );
  }
}

function fileName(path: string): string {
  return path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf("\\")) + 1);
}
