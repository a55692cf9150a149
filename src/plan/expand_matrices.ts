import { ExpressionError, LoadError } from "../base/errors.ts";
import { explained } from "../expr/hints.ts";
import { positionsOf } from "../base/yaml/positions.ts";
import type { Path } from "../base/source.ts";
import { combinationsOf, describeCombination, MatrixFault } from "../base/value/combinations.ts";
import { type Dict, isDict, type Value } from "../base/value/value.ts";
import type { Scope, Template } from "../expr/expression.ts";
import { referencesIn } from "../expr/references.ts";
import { renderData } from "../expr/template.ts";
import { addSecretsOf, addSecretValue } from "../secrets/find_secrets.ts";
import { Masker } from "../secrets/masker.ts";
import type { Document, Job } from "../workflow/model.ts";
import { writtenId } from "../workflow/step_facts.ts";
import type { Plan, PlannedJob } from "./plan.ts";

/** What the values of matrices are evaluated with. */
interface Expanding {
  /** The values that may be secret: a name or an id must not show one. */
  readonly sources: readonly Readonly<Record<string, unknown>>[];
  /** Those that expressions mark as secret. */
  readonly secrets: readonly Value[];
  readonly document: Document;
  readonly scopeOf: (job: Job) => Scope;
  /** Whether a job stays as it is where its values are not known: nothing is going to run. */
  readonly isOutline: boolean;
}

/**
 * The jobs, with a job for each combination in place of one with a matrix: `deploy(staging, eu)`.
 * Throws LoadError for values that cannot be evaluated.
 */
export function expandMatrices(jobs: readonly Job[], expanding: Expanding): readonly Job[] {
  const taken = new Set(jobs.map(({ id }) => id));
  return jobs.flatMap((job) => expandJob(job, expanding, taken))
    .map((job, index) => ({ ...job, index }));
}

function expandJob(
  job: Job,
  { document, scopeOf, isOutline, sources, secrets: marked }: Expanding,
  taken: Set<string>,
): readonly Job[] {
  const { matrix, path } = job;
  if (!matrix) return [job];
  const at = [...path, "matrix"];
  try {
    const combinations = combinationsOf(renderData(matrix.values, scopeOf(job)) as Dict);
    const secrets = new Masker();
    for (const source of [...sources, ...combinations.flatMap(mapsIn)]) {
      addSecretsOf(source, secrets);
    }
    for (const value of marked) addSecretValue(value, secrets);
    const labels = labelsOf(combinations, (label) => secrets.mask(label));
    return combinations.map((values, at): Job => ({
      ...job,
      ...{ id: uniqueId(`${job.id}(${labels[at]})`, taken), name: nameOf(job.name, labels[at]!) },
      combination: { of: job, values },
    }));
  } catch (error) {
    if (isOutline && (error instanceof ExpressionError || error instanceof MatrixFault)) {
      return [job];
    }
    throw locate(error, at, job, document);
  }
}

/** The values of a combination, and the maps among them: a name may say that one is a secret. */
function mapsIn(values: Dict): readonly Dict[] {
  return [values, ...Object.values(values).filter(isDict)];
}

/** The part of a name that distinguishes the combinations; equal ones get a number. */
function labelsOf(combinations: readonly Dict[], mask: (text: string) => string): string[] {
  const counts = new Map<string, number>();
  return combinations.map((values) => {
    const label = mask(describeCombination(values).replace(/\s+/g, " "));
    const count = (counts.get(label) ?? 0) + 1;
    counts.set(label, count);
    return count === 1 ? label : `${label} #${count}`;
  });
}

function locate(
  fault: unknown,
  at: Path,
  { id }: Job,
  document: Expanding["document"],
): unknown {
  const error = explained(fault);
  if (!(error instanceof ExpressionError || error instanceof MatrixFault)) return error;
  const positions = positionsOf(document);
  const path = [...at, ...error.path];
  const source = error instanceof ExpressionError ? positions.text(path) : undefined;
  return new LoadError(`cannot evaluate the matrix of the job "${id}"`, [{
    severity: "error",
    code: "matrix",
    message: error.message,
    span: source && error instanceof ExpressionError
      ? { source, start: error.start, end: error.end }
      : positions.locate(path),
    hint: error instanceof ExpressionError ? error.hint : undefined,
  }]);
}

function uniqueId(id: string, taken: Set<string>): string {
  let unique = id;
  while (taken.has(unique)) unique += "_";
  taken.add(unique);
  return unique;
}

/** A name that does not say which of the jobs it is of gets the values. */
function nameOf(name: Template, label: string): Template {
  const references = name.parts.flatMap((part) =>
    typeof part === "string" ? [] : referencesIn(part)
  );
  if (references.some(({ base }) => base.name === "matrix")) return name;
  return withSuffix(name, ` (${label})`);
}

function withSuffix(name: Template, suffix: string): Template {
  return {
    source: `${name.source}${suffix}`,
    parts: [...name.parts, suffix],
    render: (...args) => `${name.renderText(...args)}${suffix}`,
    renderText: (...args) => `${name.renderText(...args)}${suffix}`,
  };
}

/** Matrices of more jobs than this are drawn as one. */
const MAX_DRAWN = 8;

/** The plan with one job in place of those of a large matrix: `Deploy (100 jobs)`. */
export function foldMatrices(plan: Plan): Plan {
  const groups = Map.groupBy(plan.jobs, ({ job }) => writtenId(job));
  const folded = new Map<PlannedJob, PlannedJob & { readonly needs: PlannedJob[] }>();
  for (const group of groups.values()) {
    const { combination, ...job } = group[0]!.job;
    if (!combination || group.length <= MAX_DRAWN) {
      for (const planned of group) folded.set(planned, { ...planned, needs: [] });
      continue;
    }
    const { id, name } = combination.of;
    const one = { ...job, id, name: withSuffix(name, ` (${group.length} jobs)`) };
    const drawn = { ...group[0]!, job: one, needs: [] };
    for (const planned of group) folded.set(planned, drawn);
  }
  for (const [{ needs }, drawn] of folded) {
    const all = new Set([...drawn.needs, ...needs.map((need) => folded.get(need)!)]);
    drawn.needs.splice(0, Infinity, ...all);
  }
  return { ...plan, jobs: [...new Set(plan.jobs.map((planned) => folded.get(planned)!))] };
}
