import type { DataTemplate } from "../../expr/expression.ts";
import type { IdentifiedJob } from "../../workflow/decode/check_graph.ts";
import { isRawMap, type RawMap } from "../../workflow/decode/decode_value.ts";
import { valueAt } from "../../base/value/value.ts";
import type { ExpressionUse } from "../../workflow/decode/expressions.ts";
import type { Document } from "../../workflow/model.ts";
import type { Problem } from "../../workflow/problem.ts";
import { findDefaultWords, findMentions } from "./find_mentions.ts";
import type { LiteralSecret } from "../secrets/literal_secrets.ts";
import { makeReadings } from "./make_readings.ts";
import type { CheckedJob, CheckedStep, CheckModel } from "./check_model.ts";

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
  secrets: readonly LiteralSecret[],
  isSure: (job: string) => boolean,
  rest: Pick<CheckModel, "embeddedBy" | "context">,
): Omit<CheckModel, "missingFiles"> {
  const jobs = makeJobs(document.value, drafts, problems, isSure);
  const steps = jobs.flatMap((job) => job.steps);
  const identified = steps.filter(({ draft }) => draft.id !== undefined);
  return {
    document,
    vars,
    jobs,
    stepsById: groupBy(identified, ({ draft: { id } }) => [id!]),
    publishers: groupBy(identified, ({ published = [] }) => published),
    knowsPublishers: identified.every(({ published }) => published !== undefined),
    readings: makeReadings(uses, jobs),
    mentions: findMentions(document, problems),
    defaultWords: findDefaultWords(document.value),
    secrets,
    ...rest,
  };
}

function makeJobs(
  root: unknown,
  jobs: readonly IdentifiedJob[],
  problems: readonly Problem[],
  isSure: (job: string) => boolean,
): readonly CheckedJob[] {
  const doubtful = doubtfulPlaces(problems);
  const isDoubtful = (path: readonly (string | number)[]) => doubtful.has(JSON.stringify(path));
  const made = jobs.map((draft) => {
    const needs = undefined as CheckedJob[] | undefined;
    const job = { draft, steps: [] as CheckedStep[], needs, isSure: isSure(draft.id) };
    for (const step of draft.steps) {
      const raw = rawMapAt(root, step.path);
      const inDoubt = isDoubtful(step.path);
      const published = inDoubt ? undefined : namesIn(raw.outputs);
      job.steps.push({ draft: step, job, raw, isDoubtful: inDoubt, published });
    }
    return job;
  });
  const byId = new Map(made.toReversed().map((job) => [job.draft.id, job]));
  for (const job of made) {
    const { path, needs } = job.draft;
    const found = needs.map((id) => byId.get(id));
    const written = rawMapAt(root, path).needs ?? [];
    const isWritten = job.draft.isCleanup ||
      !isDoubtful(path) && Array.isArray(written) && written.length === needs.length;
    const isSure = isWritten && found.every((need) => need !== undefined);
    if (isSure) job.needs = found;
  }
  return made;
}

/** The paths, as JSON, of mappings with a key that was probably meant to be another. */
function doubtfulPlaces(problems: readonly Problem[]): ReadonlySet<string> {
  return new Set(
    problems.filter(({ code }) => code === "unknown-key")
      .map(({ path }) => JSON.stringify(path.slice(0, -1))),
  );
}

function rawMapAt(root: unknown, path: readonly (string | number)[]): RawMap {
  const value = valueAt(root, path);
  return isRawMap(value) ? value : {};
}

function namesIn(outputs: unknown): ReadonlySet<string> | undefined {
  if (outputs === undefined || outputs === null) return new Set();
  return isRawMap(outputs) ? new Set(Object.keys(outputs)) : undefined;
}

function groupBy<T>(
  items: readonly T[],
  keysOf: (item: T) => Iterable<string>,
): ReadonlyMap<string, readonly T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    for (const key of keysOf(item)) {
      const group = groups.get(key);
      if (group) group.push(item);
      else groups.set(key, [item]);
    }
  }
  return groups;
}
