import { loadActions } from "../../actions/registry.ts";
import { isDict, isNumber, listIn } from "../../base/value/value.ts";
import type { Host } from "../../host/host.ts";
import type { Limits } from "../limits.ts";
import type { Document } from "../model.ts";
import { addError, addWarning, type Problem, UNQUOTED_TEMPLATE } from "../problem.ts";
import { isAbsolute } from "../read_files.ts";
import { type Decoding, type LateRules, UNKNOWN_KEY } from "./key.ts";
import type { JobDraft, WorkflowDraft } from "./decode_workflow.ts";
import { Expressions, type ExpressionUse } from "./expressions.ts";
import { holdsTemplate } from "../../expr/template.ts";
import type { Path } from "../../base/source.ts";
import { MAX_DEPTH } from "../../base/yaml/parse_yaml.ts";

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
  for (const { path, message, hint } of document.duplicates) {
    addError(problems, "yaml", path, message, { part: "key", hint });
  }
  const { fault, unquoted, texts, keys } = inspectValue(document.value);
  if (fault) {
    addError(problems, "size", fault.path, fault.message);
    return { problems, uses: [] };
  }
  planReading(document, texts, host);
  for (const path of unquoted) {
    addError(problems, UNQUOTED_TEMPLATE, path, "YAML reads {{ }} without quotes as a map", {
      hint: "put the whole value in quotes",
    });
  }
  const used = usedActions([document.value, ...outerDefaults(document)]);
  const actions = await loadActions(used, host, limits.permissions);
  const expressions = new Expressions(problems);
  const late = await loadRules(keys);
  const draft = decode(document, { problems, limits, expressions, late, ...actions });
  await expressions.check(varsOf(document.value), (path) => ({
    async readSchema(written) {
      const { readSchemaBeside } = await import("./check_files.ts");
      return await readSchemaBeside(document, path, written, limits, host);
    },
    async readFile(written) {
      const { readFileBeside } = await import("./check_files.ts");
      return await readFileBeside(document, path, written, limits, host);
    },
  }));
  const jobs = jobsIn(draft);
  if (jobs.some(({ steps }) => steps.some(({ snapshot }) => snapshot))) {
    await (await import("./check_snapshots.ts")).checkSnapshots(jobs, problems);
  }
  if (used.has("http") && document.files.some(({ text }) => text.includes("openapi"))) {
    const { checkDescriptions } = await import("./check_files.ts");
    await checkDescriptions(document, problems, limits, host);
  }
  await warnOfOddNumbers(problems, document);
  return {
    draft,
    uses: expressions.uses,
    problems: await allowAnchors(problems, document),
  };
}

/** The rules of keys that few files have, if these are among the keys of a file. */
async function loadRules(keys: ReadonlySet<string>): Promise<LateRules> {
  return {
    iteration: keys.has("iteration")
      ? (await import("./decode_iteration.ts")).iteration
      : undefined,
    load: keys.has("load") ? (await import("./decode_load.ts")).load : undefined,
    matrix: keys.has("matrix") ? (await import("./decode_matrix.ts")).jobMatrix : undefined,
  };
}

/**
 * Notes the files that these texts may name as inputs: they are relative to the file that names
 * them, or to the current directory.
 */
export function planReading(
  { files }: Document,
  texts: readonly string[],
  host: Pick<Host, "files">,
): void {
  const directories = files.map(({ name }) => name.replace(/[^/\\]*$/, ""));
  host.files.planReading(
    texts.filter((text) => PATH_TEXT.test(text)).flatMap((name) =>
      isAbsolute(name) ? name : [name, ...directories.map((directory) => directory + name)]
    ),
  );
}

/** The problems without warnings of unknown top-level keys that are there for anchors. */
async function allowAnchors(problems: Problem[], document: Document): Promise<Problem[]> {
  const isUnknown = ({ code, path }: Problem) => code === UNKNOWN_KEY && path.length === 1;
  if (!problems.some(isUnknown)) return problems;
  const { positionsOf } = await import("../../base/yaml/positions.ts");
  const allowed = positionsOf(document).keysOfUsedAnchors();
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

function outerDefaults({ defaults = [] }: Document): readonly unknown[] {
  return defaults.map((one) => ({ defaults: one }));
}

/**
 * The names of actions that a workflow, or one job in a file of its own, uses or gives defaults
 * to, ignoring the rest.
 */
function usedActions(roots: readonly unknown[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const job of [...roots.flatMap(jobsOf), ...roots]) {
    if (isDict(job) && isDict(job.defaults)) {
      for (const name of Object.keys(job.defaults)) names.add(name);
    }
    for (const step of [...listIn(job, "steps"), ...listIn(job, "finally")]) {
      if (isDict(step) && typeof step.uses === "string") names.add(step.uses);
    }
  }
  return names;
}

/** The jobs of a document, also where they are in a map. */
export function jobsOf(root: unknown): readonly unknown[] {
  const jobs = isDict(root) ? root.jobs : undefined;
  return typeof jobs === "object" && jobs !== null ? Object.values(jobs) : [];
}

/** The properties of a document found before decoding. */
interface Inspection {
  /** Why the document must not be traversed, and the place of the cause. */
  readonly fault?: { readonly message: string; readonly path: Path };
  /** Mappings that are templates without quotes: YAML reads `{{ x }}` as a mapping in a mapping. */
  readonly unquoted: readonly Path[];
  /** All constant texts but names, any of which may be the path of a file that the run reads. */
  readonly texts: readonly string[];
  /** The keys of all its mappings. */
  readonly keys: ReadonlySet<string>;
}

/** What a path can be. */
const PATH_TEXT = /^[^\n]{1,500}$/;

/** Keys whose texts name something else. */
const NAME_KEYS: readonly (string | number | undefined)[] = ["id", "name", "uses", "needs", "tags"];

/** The number of values that aliases may add to the written ones. */
const MAX_REPEATED_VALUES = 1_000_000;

/** The name that a mapping gets as a key. */
const MAPPING_AS_KEY = "[object Object]";

/** Walks through a document, also through the parts that its aliases repeat. */
export function inspectValue(root: unknown): Inspection {
  const seen = new Set<object>();
  const open = new Set<object>();
  const path: (string | number)[] = [];
  const unquoted: Path[] = [];
  const texts: string[] = [];
  const keys = new Set<string>();
  let fault: Inspection["fault"];
  /** The values that aliases repeat, and the number of aliases around the current value. */
  let repeated = 0;
  let aliases = 0;
  const walk = (value: unknown): void => {
    if (fault) return;
    if (aliases > 0 && ++repeated > MAX_REPEATED_VALUES) {
      fault = { message: "aliases make the document too large", path: [...path] };
    } else if (typeof value === "string") {
      const isName = NAME_KEYS.includes(path.findLast((key) => typeof key === "string"));
      if (!isName && !holdsTemplate(value)) texts.push(value);
    } else if (typeof value === "object" && value !== null) {
      if (open.has(value)) fault = { message: "an alias refers to itself", path: [...path] };
      else walkInto(value);
    }
  };
  const walkInto = (value: object) => {
    if (path.length > MAX_DEPTH) {
      fault = { message: "the values are nested too deeply", path: [...path] };
      return;
    }
    if (Object.hasOwn(value, MAPPING_AS_KEY)) unquoted.push([...path]);
    const isRepeated = seen.has(value);
    if (isRepeated) aliases++;
    seen.add(value);
    open.add(value);
    for (const [key, part] of Object.entries(value)) {
      path.push(Array.isArray(value) ? Number(key) : key);
      if (path.includes("with")) texts.push(key);
      if (!Array.isArray(value)) keys.add(key);
      walk(part);
      path.pop();
    }
    open.delete(value);
    if (isRepeated) aliases--;
  };
  walk(root);
  return { fault, unquoted, texts, keys };
}

/** A number that YAML may write otherwise than the file: octal, with an exponent, or `1.10`. */
const ANY_ODD_NUMBER =
  /(?<=^|[\s,[{:])[-+]?(?:0[\d_]+|[\d_]+[eE][-+]?\d+|\d+\.\d*0)(?=[\s,\]}]|$)/m;
const ODD_NUMBER = /^[-+]?(?:0[\d_]+|[\d_]+[eE][-+]?\d+)$/;

/** A number whose last zero would be missing from a text: in a version, or where texts are sent. */
function losesZero(path: Path, written: string): boolean {
  if (!/^\d+\.\d*0$/.test(written)) return false;
  const isText = /version/i.test(String(path.findLast((key) => typeof key === "string"))) ||
    path.some((key) => /^(?:headers|query|form|env|cookies)$/.test(String(key)));
  return isText || path.includes("matrix") && !/\.0+$/.test(written);
}

/**
 * Warns of numbers that were often meant as text: with a leading zero, which YAML reads to the base
 * of eight, like a zip code, with an exponent and no point, like the id 0e12345, or like 1.10.
 */
export async function warnOfOddNumbers(problems: Problem[], document: Document): Promise<void> {
  if (!document.files.some(({ text }) => ANY_ODD_NUMBER.test(text))) return;
  const { positionsOf } = await import("../../base/yaml/positions.ts");
  const positions = positionsOf(document);
  const known = new Set<object>();
  const walk = (value: unknown, path: Path) => {
    if (isNumber(value)) {
      const written = positions.text(path)?.text ?? "";
      const isOdd = ODD_NUMBER.test(written) || losesZero(path, written);
      if (!isOdd || written === String(value)) return;
      addWarning(problems, "leading-zero", path, `${written} is read as ${value}`, {
        hint: /^0/.test(written) && !/[e.]/i.test(written)
          ? "put it in quotes for text, or leave out the zero"
          : `put it in quotes for text, or write ${value}`,
      });
    } else if (typeof value === "object" && value !== null && !known.has(value)) {
      known.add(value);
      if (Array.isArray(value)) value.forEach((item, index) => walk(item, [...path, index]));
      else for (const [key, part] of Object.entries(value)) walk(part, [...path, key]);
    }
  };
  walk(document.value, []);
}
