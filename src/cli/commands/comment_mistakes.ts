import type { Host } from "../../host/host.ts";
import { type Draft, type DraftJob, type DraftStep, renderDraft } from "../../draft/draft.ts";
import { NO_FAILURE } from "../../draft/request_draft.ts";
import { type Dict, type Value, valueAt } from "../../base/value/value.ts";
import { decodeDocument } from "../../workflow/decode/decode_document.ts";
import { decodeWorkflow } from "../../workflow/decode/decode_workflow.ts";
import { readLimits } from "../../workflow/limits.ts";
import type { Problem } from "../../workflow/problem.ts";
import { parseDocument } from "../../workflow/read_files.ts";

/** Rounds in which one mistake of each step is commented out: another may be its consequence. */
const MAX_ROUNDS = 20;

/** Parameters that a request cannot do without. */
const ESSENTIAL = /^(?:method|url|get|post|put|patch|delete|head|options)$/;

/**
 * Comments out what a workflow must not have: an invalid value such as a timeout, a part of
 * a test, or a whole step. `mistakes` are the errors that remain.
 */
export async function commentMistakes(
  original: Draft,
  host: Host,
): Promise<{ readonly draft: Draft; readonly mistakes: readonly Problem[] }> {
  let draft = original;
  for (let round = 0;; round++) {
    const document = parseDocument([{
      name: "workflow",
      text: renderDraft(draft, []),
    }]);
    const { problems } = await decodeDocument(decodeWorkflow, document, readLimits(host.env), host);
    const mistakes = problems.filter(({ severity }) => severity === "error");
    const jobs = [...draft.jobs];
    const seen = new Set<DraftStep>();
    // From the last step to the first, because a removal changes the indexes after it.
    for (const mistake of mistakes.toSorted((a, b) => Number(b.path[3]) - Number(a.path[3]))) {
      const [, job, , at] = mistake.path.map(Number);
      const step = draft.jobs[job!]?.steps[at!];
      if (mistake.path[2] !== "steps" || !step || seen.has(step)) continue;
      seen.add(step);
      jobs[job!] = withoutMistake(jobs[job!]!, mistake) ?? jobs[job!]!;
    }
    const isSame = jobs.every((job, index) => job === draft.jobs[index]);
    if (isSame || round === MAX_ROUNDS) return { draft, mistakes };
    draft = { ...draft, jobs };
  }
}

/** The job without what is wrong; undefined if nothing would be left. */
function withoutMistake(job: DraftJob, { path, range, message }: Problem): DraftJob | undefined {
  const at = Number(path[3]);
  const { data, notes } = job.steps[at]!;
  let inside = path.slice(4);
  while (valueAt(data as Dict, inside) === undefined) inside = inside.slice(0, -1);
  const [key, parameter] = inside;
  const put = (changed: Dict, note: string): DraftJob => ({
    ...job,
    steps: job.steps.with(at, { data: changed, notes: [...notes, `${note} (${message})`] }),
  });
  if (key === "test") {
    const tests = String(data.test).split("\n&& ");
    let end = 0;
    const wrong = tests.findIndex((test) => (end += test.length + 4) > (range?.start ?? 0));
    const test = tests.toSpliced(wrong, 1).join("\n&& ") || NO_FAILURE;
    return put({ ...data, test }, `the test ${tests[wrong]}`);
  }
  const isWhole = key === undefined || key === "with" && ESSENTIAL.test(String(parameter ?? "url"));
  if (!isWhole) return put(without(data, inside), inside.join("."));
  if (job.steps.length === 1) return undefined;
  const note = `the step "${data.name}": ${message}`;
  const steps = job.steps.toSpliced(at, 1);
  return { ...job, steps, notes: [...job.notes ?? [], ...notes, note] };
}

/** A copy without what is at a path. */
function without(data: Dict, path: readonly (string | number)[]): Dict {
  const copy = structuredClone(data);
  const around = valueAt(copy, path.slice(0, -1));
  if (Array.isArray(around)) around.splice(Number(path.at(-1)), 1);
  else delete (around as Record<string, Value>)[path.at(-1)!];
  return copy;
}
