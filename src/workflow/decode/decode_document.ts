import { loadActions } from "../../actions/registry.ts";
import { isDict } from "../../base/value/value.ts";
import type { Host } from "../../host/host.ts";
import type { Limits } from "../limits.ts";
import type { Document } from "../model.ts";
import { addError, type Problem, UNQUOTED_TEMPLATE } from "../problem.ts";
import { isAbsolute } from "../read_files.ts";
import { UNKNOWN_KEY } from "./decode_fields.ts";
import type { JobDraft } from "./decode_job.ts";
import type { Decoding } from "./decode_value.ts";
import type { WorkflowDraft } from "./decode_workflow.ts";
import { Expressions, type ExpressionUse } from "./expressions.ts";
import { inspectValue, listIn, warnOfLeadingZeros } from "./inspect_value.ts";

/** All that could be decoded of a document, and all that is wrong with it. */
export interface DecodedDocument<T> {
  /** Undefined if nothing could be decoded. */
  readonly draft?: T;
  readonly uses: readonly ExpressionUse[];
  readonly problems: Problem[];
}

/** Decodes as much of a document as possible, and reports all mistakes in it. */
export async function decodeDocument<T>(
  decode: (document: Document, decoding: Decoding) => T | undefined,
  document: Document,
  limits: Limits,
  host: Host,
): Promise<DecodedDocument<T>> {
  const problems: Problem[] = [];
  const { fault, unquoted, files } = inspectValue(document.value);
  if (fault) {
    addError(problems, "size", fault.path, fault.message);
    return { problems, uses: [] };
  }
  planReading(document, files.map(({ name }) => name), host);
  for (const path of unquoted) {
    addError(problems, UNQUOTED_TEMPLATE, path, "YAML reads {{ }} without quotes as a map", {
      hint: "put the whole value in quotes",
    });
  }
  const used = usedActions(document.value);
  const builtIn = await loadActions(used);
  const others = [...used].filter((name) => !builtIn.has(name));
  const plugins = others.length === 0
    ? undefined
    : await (await import("../../actions/plugin/load_plugins.ts"))
      .loadPlugins(others, host, limits.permissions);
  const actions = plugins ? new Map([...builtIn, ...plugins.actions]) : builtIn;
  const expressions = new Expressions(problems);
  const draft = decode(document, { problems, limits, expressions, actions, plugins });
  await expressions.check(varsOf(document.value), (path) => ({
    async readSchema(written) {
      const { readSchemaBeside } = await import("./read_schemas.ts");
      return await readSchemaBeside(document, path, written, limits, host);
    },
  }));
  const jobs = jobsIn(draft);
  if (jobs.some(({ steps }) => steps.some(({ snapshot }) => snapshot))) {
    await (await import("./check_snapshots.ts")).checkSnapshots(jobs, problems);
  }
  if (used.has("http") && files.some(({ key }) => key === "openapi")) {
    const { checkDescriptions } = await import("./check_descriptions.ts");
    await checkDescriptions(document, problems, limits, host);
  }
  warnOfLeadingZeros(problems, document);
  return {
    draft,
    uses: expressions.uses,
    problems: allowAnchors(problems, document),
  };
}

/** Notes files as inputs: they are relative to the file that names them, or to the current directory. */
function planReading({ files }: Document, names: readonly string[], host: Host): void {
  const directories = files.map(({ name }) => name.replace(/[^/\\]*$/, ""));
  host.files.planReading(
    names.flatMap((name) =>
      isAbsolute(name) ? name : [name, ...directories.map((directory) => directory + name)]
    ),
  );
}

/** The problems without warnings of unknown top-level keys that are there for anchors. */
function allowAnchors(problems: Problem[], document: Document): Problem[] {
  const isUnknown = ({ code, path }: Problem) => code === UNKNOWN_KEY && path.length === 1;
  if (!problems.some(isUnknown)) return problems;
  const allowed = document.positions().keysOfUsedAnchors();
  return problems.filter((problem) => !isUnknown(problem) || !allowed.has(String(problem.path[0])));
}

/** The jobs of a draft: those of a workflow, or the job file itself; a suite has none. */
function jobsIn(draft: unknown): readonly JobDraft[] {
  const { jobs, steps } = (draft ?? {}) as Partial<WorkflowDraft & JobDraft>;
  return jobs ?? (steps ? [draft as JobDraft] : []);
}

function varsOf(root: unknown): readonly string[] {
  return isDict(root) && isDict(root.vars) ? Object.keys(root.vars) : [];
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
