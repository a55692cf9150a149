import type { Path } from "../../base/source.ts";
import type { ExpressionUse } from "../../workflow/decode/expressions.ts";
import { argumentProblem } from "../../expr/functions/argument.ts";
import { FUNCTIONS } from "../../expr/functions/registry.ts";
import type { CallExpression } from "../../expr/parse/ast.ts";
import { findReferences, keyPath, type References } from "../../expr/references.ts";
import type { CheckedJob, CheckedStep, Reading, Root } from "./check_model.ts";

/** Where expressions read which names, in the order in which they were decoded. */
export function makeReadings(
  uses: readonly ExpressionUse[],
  jobs: readonly CheckedJob[],
): readonly Reading[] {
  const places = indexPlaces(jobs);
  const known = new Map<object, References>();
  const referencesOf = (tree: ExpressionUse["tree"]): References => {
    let references = known.get(tree);
    if (!references) known.set(tree, references = findReferences(tree, refusesNil));
    return references;
  };
  const testedBy = (part: CheckedJob | CheckedStep | undefined) => {
    const skipif = part?.draft.skipif;
    return skipif ? referencesOf(skipif).tested : NOTHING;
  };
  const readings: Reading[] = [];
  for (const { tree, path } of uses) {
    const { references, tested } = referencesOf(tree);
    const place = references.length === 0 ? undefined : places(path);
    if (!place) continue;
    const { job, step, field } = place;
    // A condition that reads a value expects that it may be missing.
    const guards = [tested, testedBy(step), testedBy(job)];
    const isSure = isSurelyEvaluated(place);
    for (const { root, keys, isOpen, outcomes } of references) {
      const read = { keys, isOpen, outcomes, path, job, step, field, isSure, guards };
      if (isRoot(root)) readings.push({ root, ...read });
      // `$env` by itself may be read in any way.
      if (root === "$env") {
        for (const root of WHOLE_SCOPE) readings.push({ root, ...read, isOpen: true });
      }
    }
  }
  return readings;
}

function refusesNil({ callee }: CallExpression, position: number): boolean {
  const record = callee.type === "Identifier" ? FUNCTIONS.get(callee.name) : undefined;
  return record !== undefined && argumentProblem(record, position, null) !== undefined;
}

/** Whether a key is evaluated in a run in which nothing else fails, and what fails in it counts. */
export function isSurelyEvaluated({ job, step, field }: Place): boolean {
  const { skipif, when, repeat } = job.draft;
  if (!job.isSure || when === "failure") return false;
  if (!step) return field === "skipif" || !skipif && field === "repeat.expect";
  // A job with `expect` may pass although steps of it fail.
  if (skipif || repeat?.count === 0 || repeat?.expect) return false;
  if (step.draft.skipif && field !== "skipif") return false;
  const { iteration } = step.draft;
  const hasEntries = iteration?.kind === "list"
    ? iteration.entries.length > 0
    : iteration?.kind !== "file" && iteration?.kind !== "template";
  return !SOMETIMES.has(field) && (hasEntries || field.startsWith("iteration"));
}

/** Keys that only some attempts, entries and passes evaluate. */
const SOMETIMES: ReadonlySet<string> = new Set([
  ...["retry.interval", "retry.max_interval", "retry.stop"],
  ...["iteration.interval", "iteration.where"],
]);

/** Whether nil up to the key at an index does no harm where it is read. */
export function isGuarded({ root, keys, guards }: Reading, index: number): boolean {
  const key = keyPath(root, keys, index);
  return guards.some((guard) => guard.has(key));
}

const ROOTS: ReadonlySet<string> = new Set<Root>([
  ...["vars", "outputs", "res", "needs", "rt", "run", "job"] as const,
]);
const WHOLE_SCOPE: readonly Root[] = ["vars", "outputs"];

function isRoot(name: string): name is Root {
  return ROOTS.has(name);
}

const NOTHING: ReadonlySet<string> = new Set();

type Place = Pick<Reading, "job" | "step" | "field">;

/** Describes the owner of a path; undefined for the vars of the workflow. */
function indexPlaces(jobs: readonly CheckedJob[]): (path: Path) => Place | undefined {
  const index = new Map(jobs.map((job) => [
    job.draft.index,
    { job, steps: new Map(job.steps.map((step) => [placeIn(job, step.draft.path), step])) },
  ]));
  const cleanup = jobs.find(({ draft }) => draft.isCleanup)?.draft.index;
  // A job file is a job by itself.
  const isFile = jobs[0]?.draft.path.length === 0;
  return (path) => {
    const found = isFile
      ? index.get(0)
      : path[0] === "jobs"
      ? index.get(Number(path[1]))
      : path[0] === "finally" && cleanup !== undefined
      ? index.get(cleanup)
      : undefined;
    if (!found) return undefined;
    const { job, steps } = found;
    const step = steps.get(placeIn(job, path));
    const [key, part] = path.slice((step?.draft ?? job.draft).path.length);
    return { job, step, field: fieldName(key, part) };
  };
}

/** The step of a job that a path leads to, as text: `steps.2`. */
function placeIn({ draft }: CheckedJob, path: Path): string {
  const start = draft.path.length;
  return path.slice(start, start + (draft.isCleanup ? 1 : 2)).join(".");
}

function fieldName(key?: string | number, part?: string | number): string {
  const isNested = key === "retry" || key === "repeat" || key === "iteration" && part !== "list" &&
      typeof part === "string";
  return isNested ? `${key}.${part}` : String(key);
}
