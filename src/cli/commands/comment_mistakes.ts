import type { Host } from "../../host/host.ts";
import type { Draft, DraftJob } from "../../importer/draft.ts";
import { NO_FAILURE } from "../../importer/http_step.ts";
import { type Dict, type Value, valueAt } from "../../value/value.ts";
import { decodeAs } from "../../workflow/decode/decode_document.ts";
import { decodeWorkflow } from "../../workflow/decode/decode_workflow.ts";
import { readLimits } from "../../workflow/limits.ts";
import type { Problem } from "../../workflow/problem.ts";
import { readYaml } from "../../workflow/yaml/read_yaml.ts";

/** Mistakes that are commented out, one after the other: one may be the consequence of another. */
const MOST = 100;

/** Parameters that a request cannot do without. */
const ESSENTIAL = /^(?:method|url|get|post|put|patch|delete|head|options)$/;

/**
 * Makes comments of what a workflow must not have: a value such as a timeout that is none, a part of
 * a test, or a whole step. `mistakes` are the errors that are left.
 */
export async function commentMistakes(
  given: Draft,
  render: (draft: Draft) => string,
  host: Host,
): Promise<{ readonly draft: Draft; readonly mistakes: readonly Problem[] }> {
  let draft = given;
  for (let round = 0;; round++) {
    const document = await readYaml([{ name: "workflow", text: render(draft) }]);
    const { problems } = await decodeAs(decodeWorkflow, document, readLimits(host.env), host);
    const mistakes = problems.filter(({ severity }) => severity === "error");
    const [mistake] = mistakes.filter(({ path }) => path[2] === "steps" && path.length > 3);
    const index = Number(mistake?.path[1]);
    const job = draft.jobs[index];
    const mended = mistake && job && withoutMistake(job, mistake);
    if (!mended || round === MOST) return { draft, mistakes };
    draft = { ...draft, jobs: draft.jobs.with(index, mended) };
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
    steps: job.steps.with(at, { data: changed, notes: [...notes, `${note}: ${message}`] }),
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
