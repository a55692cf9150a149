import type { IdentifiedJob } from "../workflow/decode/decode_workflow.ts";
import type { DataTemplate } from "../expr/expression.ts";
import type { Path } from "../base/source.ts";
import { type Dict, isDict, valueAt } from "../base/value/value.ts";
import type { Document } from "../workflow/model.ts";
import { type Problem, UNQUOTED_TEMPLATE } from "../workflow/problem.ts";
import type { CheckedJob, CheckedStep, CheckModel, Reading, Root } from "./model.ts";
import { jobsOf } from "../workflow/decode/decode_document.ts";
import { isSurelyEvaluated } from "./readings.ts";
import { argumentProblem } from "../expr/functions/function.ts";
import { FUNCTIONS } from "../expr/functions/registry.ts";
import type { CallExpression } from "../expr/parse/ast.ts";
import { findReferences, type References } from "../expr/references.ts";
import { type ExpressionUse, seesResult } from "../workflow/decode/expressions.ts";

/** The results of decoding a document. */
interface Decoded {
  readonly uses: readonly ExpressionUse[];
  readonly problems: readonly Problem[];
}

/** The jobs of a workflow and its vars, or the job of a job file. */
export interface Drafts {
  readonly jobs: readonly IdentifiedJob[];
  readonly vars?: DataTemplate;
}

/** Looks through all that was decoded, once, for the checks to ask. */
export function makeModel(
  document: Document,
  { jobs: drafts, vars }: Drafts,
  { uses, problems }: Decoded,
  isSure: (job: string) => boolean,
  rest: Pick<CheckModel, "embeddedBy" | "context" | "secrets">,
): Omit<CheckModel, "missingFiles"> {
  const definitions = findDefinitions(document, problems);
  const jobs = makeJobs(document.value, drafts, definitions, isSure);
  const steps = jobs.flatMap((job) => job.steps);
  const identified = steps.filter(({ draft }) => draft.id !== undefined);
  return {
    document,
    vars,
    jobs,
    steps,
    stepsById: Map.groupBy(identified, ({ draft: { id } }) => id!),
    publishers: publishersIn(identified),
    uses,
    readings: makeReadings(uses, jobs),
    definitions,
    usedWords: findUsedWords(document, problems),
    ...rest,
  };
}

function publishersIn(steps: readonly CheckedStep[]): ReadonlyMap<string, readonly CheckedStep[]> {
  const publishers = new Map<string, CheckedStep[]>();
  for (const step of steps) {
    for (const name of step.published ?? []) {
      if (publishers.has(name)) publishers.get(name)!.push(step);
      else publishers.set(name, [step]);
    }
  }
  return publishers;
}

function makeJobs(
  root: unknown,
  jobs: readonly IdentifiedJob[],
  definitions: ReadonlySet<string>,
  isSure: (job: string) => boolean,
): readonly CheckedJob[] {
  const made = jobs.map((draft) => {
    const needs = undefined as CheckedJob[] | undefined;
    const job = { draft, steps: [] as CheckedStep[], needs, isSure: isSure(draft.id) };
    for (const step of draft.steps) {
      const raw = rawMapAt(root, step.path);
      job.steps.push({ draft: step, job, raw, published: namesIn(raw.outputs) });
    }
    return job;
  });
  const byId = new Map(made.toReversed().map((job) => [job.draft.id, job]));
  for (const job of made) {
    const { path, needs } = job.draft;
    const found = needs.map((id) => byId.get(id));
    const { needs: list, ...raw } = rawMapAt(root, path);
    const written = list ?? [];
    // An unknown key with a list may be meant to be `needs`.
    const isDoubtful = Object.keys(raw).some((key) =>
      definitions.has(key) && Array.isArray(raw[key])
    );
    const isWritten = job.draft.isCleanup ||
      !isDoubtful && Array.isArray(written) && written.length === needs.length;
    if (isWritten && found.every((need) => need !== undefined)) job.needs = found;
  }
  return made;
}

function rawMapAt(root: unknown, path: Path): Dict {
  const value = valueAt(root, path);
  return isDict(value) ? value : {};
}

function namesIn(outputs: unknown): ReadonlySet<string> | undefined {
  if (outputs === undefined || outputs === null) return new Set();
  return isDict(outputs) ? new Set(Object.keys(outputs)) : undefined;
}

/** Where expressions read which names, in the order in which they were decoded. */
function makeReadings(
  uses: readonly ExpressionUse[],
  jobs: readonly CheckedJob[],
): readonly Reading[] {
  const ownerOf = indexOwners(jobs);
  const known = new Map<object, References>();
  const referencesOf = (tree: ExpressionUse["tree"]): References => {
    let references = known.get(tree);
    if (!references) known.set(tree, references = findReferences(tree, refusesNil));
    return references;
  };
  const testedBy = (part: CheckedJob | CheckedStep | undefined) => {
    const skipif = part?.draft.skipif;
    return skipif ? referencesOf(skipif) : NOTHING;
  };
  const readings: Reading[] = [];
  for (const { tree, path, names, form } of uses) {
    const found = referencesOf(tree);
    const { references } = found;
    const owner = references.length === 0 ? undefined : ownerOf(path);
    if (!owner) continue;
    // A condition that reads a value expects that it may be missing.
    const guards = [found, testedBy(owner.step), testedBy(owner.job)];
    const isSure = isSurelyEvaluated({ ...owner, form });
    const isAfterwards = seesResult(names) && owner.key !== "outputs";
    for (const { root, keys, isOpen, outcomes } of references) {
      const reading = {
        ...{ keys, isOpen, outcomes, path, ...owner, form, isAfterwards, isSure, guards },
      };
      if (isRoot(root)) readings.push({ root, ...reading });
      // `$env` by itself may be read in any way.
      if (root === "$env") {
        readings.push({ root: "vars", ...reading, isOpen: true });
        readings.push({ root: "outputs", ...reading, isOpen: true });
      }
    }
  }
  return readings;
}

const NOTHING: Reading["guards"][number] = { tested: new Set(), optional: new Set() };

function refusesNil({ callee }: CallExpression, position: number): boolean {
  const record = callee.type === "Identifier" ? FUNCTIONS.get(callee.name) : undefined;
  return record !== undefined && argumentProblem(record, position, null) !== undefined;
}

const ROOTS: ReadonlySet<string> = new Set<Root>([
  ...["vars", "outputs", "res", "needs", "rt", "run", "job", "message", "trace"] as const,
]);

function isRoot(name: string): name is Root {
  return ROOTS.has(name);
}

type Owner = Pick<Reading, "job" | "step" | "key">;

/** Finds the owner of a path; the vars of the workflow have none. */
function indexOwners(jobs: readonly CheckedJob[]): (path: Path) => Owner | undefined {
  const index = new Map(jobs.map((job) => [
    job.draft.path.join("."),
    { job, steps: new Map(job.steps.map((step) => [stepKey(job, step.draft.path), step])) },
  ]));
  return (path) => {
    const owner = path.slice(0, path[0] === "jobs" ? 2 : 1);
    // A job file is a job by itself.
    const found = index.get(owner.join(".")) ?? index.get("");
    if (!found) return undefined;
    const { job, steps } = found;
    const step = steps.get(stepKey(job, path));
    return { job, step, key: String(path[(step?.draft ?? job.draft).path.length]) };
  };
}

/** The step of a job that a path leads to, as text: `steps.2`, `load.setup.0`. */
function stepKey({ draft }: CheckedJob, path: Path): string {
  const start = draft.path.length;
  const isSetup = path[start] === "load" && path[start + 1] === "setup";
  return path.slice(start, start + (draft.isCleanup ? 1 : isSetup ? 3 : 2)).join(".");
}

/** Problems that keep the text at their path from being read as what it was meant to be. */
const UNREAD: ReadonlySet<string> = new Set([
  ...["duration", "expression", "open-braces", "type", "unknown-action", "unknown-key"],
  // `user` may be meant to be vars.user.
  "unknown-name",
]);

/** The keys and the words in values that were not read: they may be names that it defines. */
function findDefinitions(
  { value: root }: Document,
  problems: readonly Problem[],
): ReadonlySet<string> {
  const names = new Set<string>();
  const known = new Set<unknown>();
  const add = (value: unknown) => {
    if (typeof value === "string" && /^[\w-]+$/.test(value)) names.add(value);
    if (typeof value !== "object" || value === null || known.has(value)) return;
    known.add(value);
    for (const [key, part] of Object.entries(value)) {
      names.add(key);
      add(part);
    }
  };
  for (const { code, path, range } of problems) {
    const value = valueAt(root, path);
    if (code === "type" || code === "unknown-key") add(value);
    if (code === "unknown-key") add(path.at(-1));
    if (code !== "unknown-name" || typeof value !== "string" || !range) continue;
    // `outputs.my-step` is read as a subtraction.
    const [word] = /[\w-]*$/.exec(value.slice(0, range.end))!;
    if (word.includes("-")) { for (const part of word.split("-")) names.add(part); }
  }
  return names;
}

/**
 * Words in texts that were not read and still are uses: those with a mistake, in defaults, which no
 * step may have taken, and in templates without quotes, whose text YAML has lost.
 */
function findUsedWords(
  { value: root, files }: Document,
  problems: readonly Problem[],
): ReadonlySet<string> {
  const words = new Set<string>();
  const known = new Set<unknown>();
  for (const { code, path } of problems) {
    if (UNREAD.has(code)) addWords(words, valueAt(root, path), known, () => true);
  }
  for (const job of [root, ...jobsOf(root)]) {
    if (isDict(job)) addWords(words, job.defaults, known, (text) => text.includes("{{"));
  }
  if (problems.some(({ code }) => code === UNQUOTED_TEMPLATE)) {
    const templates = files.flatMap(({ text }) => text.match(/\{\{[^}]*\}\}/g) ?? []);
    addWords(words, templates, known, () => true);
  }
  return words;
}

function addWords(
  words: Set<string>,
  value: unknown,
  known: Set<unknown>,
  isWanted: (text: string) => boolean,
): void {
  // A text with many mistakes is searched once.
  if (known.has(value)) return;
  known.add(value);
  if (typeof value === "string" && isWanted(value)) {
    for (const [word] of value.matchAll(/[\w-]+/g)) {
      for (const part of [word, ...word.split("-")]) words.add(part);
    }
  } else if (typeof value === "object" && value !== null) {
    for (const [key, part] of Object.entries(value)) {
      addWords(words, key, known, isWanted);
      addWords(words, part, known, isWanted);
    }
  }
}
