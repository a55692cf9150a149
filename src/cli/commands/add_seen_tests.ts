import type { Host } from "../../host/host.ts";
import type { Draft, DraftStep } from "../../openapi/gen/draft.ts";
import { headerOf, keyOf, literal } from "../../importer/expressions.ts";
import type { WithoutSecrets } from "../../importer/hide_secrets.ts";
import { NO_FAILURE } from "../../importer/request_draft.ts";
import { makePlan } from "../../plan/make_plan.ts";
import type { RunEvent, StepResult } from "../../run/event.ts";
import { run } from "../../run/run.ts";
import { isDict, isNumber, type Value } from "../../base/value/value.ts";
import { loadWorkflow } from "../../workflow/load_workflow.ts";

/** Characters of a response that are looked at. */
const MAX_LENGTH = 1_000_000;

/** So many keys of a response are tested. */
const MAX_KEYS = 12;

/** A workflow with tests of what came back, and the steps that failed. */
interface Seen {
  readonly draft: Draft;
  readonly failures: readonly string[];
}

/**
 * Runs a new workflow, which is to have this path, once against its real target, and adds tests of
 * what came back.
 */
export async function addSeenTests(
  { draft, environment }: WithoutSecrets,
  render: (draft: Draft) => string,
  path: string,
  host: Host,
): Promise<Seen> {
  const results = await runOnce(render(draft), environment, path, host);
  const failures: string[] = [];
  const jobs = draft.jobs.map((job, index) => ({
    ...job,
    steps: job.steps.map((step, at) => {
      const result = results.get(`${index} ${at}`);
      if (result?.state === "passed") return withTests(step, result);
      const why = result?.failures[0]?.message ?? "it was skipped";
      failures.push(`the step "${step.data.name}" did not pass, so nothing was added: ${why}`);
      return step;
    }),
  }));
  return { draft: { ...draft, jobs }, failures };
}

/** The results of all steps, by the places of their jobs and their own. */
async function runOnce(
  text: string,
  environment: Readonly<Record<string, string>>,
  path: string,
  host: Host,
): Promise<ReadonlyMap<string, StepResult>> {
  const bytes = new TextEncoder().encode(text);
  const files = Object.create(host.files, {
    read: {
      value: (one: string | URL) => one === path ? Promise.resolve(bytes) : host.files.read(one),
    },
  });
  const env = {
    get: (name: string) => environment[name] ?? host.env.get(name),
    all: () => ({ ...host.env.all(), ...environment }),
  };
  const here: Host = Object.create(host, { files: { value: files }, env: { value: env } });
  const { workflow } = await loadWorkflow(path, here);
  const plan = await makePlan(workflow, here.env.all());
  const results = new Map<string, StepResult>();
  const ids: string[] = [];
  const take = (event: RunEvent) => {
    if (event.type === "run_started") ids.push(...event.jobs.map(({ id }) => id));
    if (event.type !== "step_finished") return;
    results.set(`${ids.indexOf(event.run.job)} ${event.run.step}`, event.result);
  };
  await run(plan, here, take, { detail: { all: true, limit: MAX_LENGTH } });
  return results;
}

/** The step with tests of the code, the content type and the shape of its response. */
function withTests(step: DraftStep, { exchange }: StepResult): DraftStep {
  const res = isDict(exchange?.res ?? null) ? exchange!.res : {};
  const { code, headers, body = null } = isDict(res) ? res : {};
  if (typeof code !== "number") return step;
  const type = isDict(headers) ? headers["Content-Type"] : undefined;
  const media = typeof type === "string" ? /^[^;\s]+/.exec(type)?.[0] : undefined;
  const known = String(step.data.test ?? "").split("\n&& ").filter((one) => one !== NO_FAILURE);
  const tests = new Set([
    ...known,
    `res.code == ${code}`,
    ...media === undefined ? [] : [`${headerOf("content-type")} startsWith ${literal(media)}`],
    ...shapeOf(body),
  ]);
  return {
    ...step,
    data: { ...step.data, test: [...tests].filter((one) => one !== "").join("\n&& ") },
  };
}

/** The types of JSON values; a text is not JSON. */
function shapeOf(body: Value): string[] {
  if (Array.isArray(body)) return ['type(res.body) == "array"'];
  if (!isDict(body)) return [];
  return [
    'type(res.body) == "map"',
    ...Object.entries(body).slice(0, MAX_KEYS).flatMap(([name, value]) => {
      const type = typeTest(value);
      return type === undefined ? [] : [`type(res.body${keyOf(name)}) ${type}`];
    }),
  ];
}

/** Makes no test for nil, since the value may be of any type another time. */
function typeTest(value: Value): string | undefined {
  if (value === null) return undefined;
  if (isNumber(value)) return 'in ["int", "float"]';
  if (typeof value === "object") return Array.isArray(value) ? '== "array"' : '== "map"';
  return typeof value === "boolean" ? '== "bool"' : '== "string"';
}
