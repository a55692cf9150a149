import type { Plugins } from "../../action/plugin/load_plugins.ts";
import { loadActions } from "../../action/registry.ts";
import { holdsTemplate, plainTemplate } from "../../expr/template/template_data.ts";
import type { Host } from "../../host/host.ts";
import type { Path } from "../../base/source.ts";
import { isDict } from "../../base/value/value.ts";
import type { NamedDescription } from "./check_descriptions.ts";
import type { JobDraft } from "./decode_job.ts";
import { UNKNOWN_KEY } from "./decode_fields.ts";
import { type Decoding, isRawMap } from "./decode_value.ts";
import type { ExpressionReader, ExpressionUse } from "./expression_reader.ts";
import { inspectValue, warnOfLeadingZeros } from "./inspect_value.ts";
import type { Limits } from "../limits.ts";
import type { Document } from "../model.ts";
import { addError, type Problem, UNQUOTED_TEMPLATE } from "../problem.ts";

/** All that could be decoded of a document, and all that is wrong with it. */
export interface DecodedDocument<T> {
  /** Undefined if nothing could be decoded. */
  readonly draft?: T;
  readonly uses: readonly ExpressionUse[];
  readonly problems: Problem[];
  /** Mappings that should be templates: problems inside of them are consequences. */
  readonly unquoted: readonly Path[];
}

/** Decodes as much of a document as possible, whatever is wrong with it. */
export async function decodeAs<T>(
  decode: (document: Document, decoding: Decoding) => T | undefined | Promise<T | undefined>,
  document: Document,
  limits: Limits,
  host: Host,
): Promise<DecodedDocument<T>> {
  const problems: Problem[] = [];
  const { fault, unquoted, expressions: any, files } = inspectValue(document.value);
  if (fault) {
    addError(problems, "size", fault.path, fault.message);
    return { problems, uses: [], unquoted: [] };
  }
  // Paths are relative to the file that names them, or else to the current directory.
  const besides = document.files.map(({ name }) => name.replace(/[^/\\]*$/, ""));
  const isAbsolute = (path: string) => /^(?:[\\/]|[a-z]:)/i.test(path);
  host.files.planReading(
    files.flatMap((path) => isAbsolute(path) ? path : [path, ...besides.map((at) => at + path)]),
  );
  for (const path of unquoted) {
    addError(problems, UNQUOTED_TEMPLATE, path, "YAML reads {{ }} without quotes as a map", {
      hint: "put the whole value in quotes",
    });
  }
  const expressions = any ? await expressionReader(problems) : NO_EXPRESSIONS;
  const used = usedActions(document.value);
  const builtIn = await loadActions(used);
  const plugins = builtIn.size < used.size
    ? await findPlugins(used, builtIn, limits, host)
    : undefined;
  const actions = plugins ? new Map([...builtIn, ...plugins.actions]) : builtIn;
  const draft = await decode(document, {
    ...{ problems, limits, expressions, actions },
    ...plugins ? { plugins } : {},
  });
  await expressions.check(varsOf(document.value), (path) => ({
    async readSchema(written) {
      const { readSchemaBeside } = await import("./read_schemas.ts");
      return await readSchemaBeside(document, path, written, limits, host);
    },
  }));
  await checkSnapshotsOf(draft, problems);
  const descriptions = used.has("http") ? descriptionsIn(document.value) : [];
  if (descriptions.length > 0) {
    const { checkDescriptions } = await import("./check_descriptions.ts");
    await checkDescriptions(document, descriptions, problems, limits, host);
  }
  await warnOfLeadingZeros(problems, document);
  await allowAnchors(problems, document);
  return { ...draft ? { draft } : {}, uses: expressions.uses, problems, unquoted };
}

/** Takes back the warnings of unknown top-level keys that are there for anchors. */
async function allowAnchors(problems: Problem[], document: Document): Promise<void> {
  const isUnknown = ({ code, path }: Problem) => code === UNKNOWN_KEY && path.length === 1;
  if (!problems.some(isUnknown)) return;
  const allowed = (await document.positions()).keysOfUsedAnchors();
  const kept = problems.filter((problem) =>
    !isUnknown(problem) || !allowed.has(String(problem.path[0]))
  );
  problems.splice(0, problems.length);
  for (const problem of kept) problems.push(problem);
}

/** Checks what is written about snapshots, which few workflows have. */
async function checkSnapshotsOf(draft: unknown, problems: Problem[]): Promise<void> {
  const { jobs = [draft] } = (draft ?? {}) as { readonly jobs?: readonly unknown[] };
  const drafts = jobs as readonly (JobDraft | undefined)[];
  // The draft of a suite file has no steps.
  if (!drafts.some((job) => job?.steps?.some(({ snapshot }) => snapshot))) return;
  const { checkSnapshots } = await import("./check_snapshots.ts");
  await checkSnapshots(drafts.flatMap((job) => job ?? []), problems);
}

/** The OpenAPI descriptions that steps and defaults of http name, where the names are constant. */
function descriptionsIn(root: unknown): readonly NamedDescription[] {
  const jobs = listIn(root, "jobs").map((job, index) => [job, ["jobs", index]] as const);
  return [[root, []] as const, ...jobs].flatMap(([owner, place]) => [
    ...descriptionOf(fieldIn(fieldIn(owner, "defaults"), "http"), [...place, "defaults", "http"]),
    ...["steps", "finally"].flatMap((key) =>
      listIn(owner, key).flatMap((step, index) =>
        fieldIn(step, "uses") === "http"
          ? descriptionOf(fieldIn(step, "with"), [...place, key, index, "with"])
          : []
      )
    ),
  ]);
}

function descriptionOf(params: unknown, place: Path): readonly NamedDescription[] {
  const given = fieldIn(params, "openapi");
  const name = isDict(given) ? given.file : given;
  if (typeof name !== "string" || name === "false" || holdsTemplate(name)) return [];
  return [{ name, path: [...place, "openapi", ...isDict(given) ? ["file"] : []] }];
}

function fieldIn(map: unknown, key: string): unknown {
  return isDict(map) && Object.hasOwn(map, key) ? map[key] : undefined;
}

function varsOf(root: unknown): readonly string[] {
  return isRawMap(root) && isRawMap(root.vars) ? Object.keys(root.vars) : [];
}

/** Brings the expression language, which not every workflow needs. */
async function expressionReader(problems: Problem[]): Promise<ExpressionReader> {
  const { makeExpressionReader } = await import("./read_expressions.ts");
  return makeExpressionReader(problems);
}

/** The reader of a workflow that has no expression in it, and so needs no parser for any. */
const NO_EXPRESSIONS: ExpressionReader = {
  uses: [],
  expression: (text) => {
    throw new Error(`an expression where none was expected: ${text}`);
  },
  template: plainTemplate,
  data: (value) => ({ kind: "constant", value }),
  check: () => Promise.resolve(),
};

/** Loads plugins for names that are not built-in actions. */
async function findPlugins(
  used: ReadonlySet<string>,
  builtIn: ReadonlyMap<string, unknown>,
  { permissions }: Limits,
  host: Host,
): Promise<Plugins> {
  const { loadPlugins } = await import("../../action/plugin/load_plugins.ts");
  const names = [...used].filter((name) => !builtIn.has(name));
  return await loadPlugins(names, host, permissions);
}

/**
 * The names of actions that a workflow, or one job in a file of its own, uses or gives defaults
 * to, ignoring the rest.
 */
function usedActions(root: unknown): ReadonlySet<string> {
  const names = new Set<string>();
  for (const job of [...listIn(root, "jobs"), root]) {
    if (isDict(job) && isDict(job.defaults)) {
      for (const name of Object.keys(job.defaults)) names.add(name);
    }
    for (const step of [...listIn(job, "steps"), ...listIn(job, "finally")]) {
      if (isDict(step) && typeof step.uses === "string") names.add(step.uses);
    }
  }
  return names;
}

function listIn(map: unknown, key: string): readonly unknown[] {
  const list = isDict(map) ? map[key] : undefined;
  return Array.isArray(list) ? list : [];
}
