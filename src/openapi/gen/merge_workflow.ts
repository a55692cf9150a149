import type { Source } from "../../base/source.ts";
import { type Dict, isDict } from "../../base/value/value.ts";
import { type Insertion, insertYaml } from "../../base/yaml/insert_yaml.ts";
import { printYaml } from "../../base/yaml/print_yaml.ts";
import type { Api, Operation } from "./api.ts";
import { renderJob } from "./draft.ts";
import { dictOf, type Existing, type ExistingStep } from "./existing.ts";
import type { makeWorkflow } from "./make_workflow.ts";
import { literalText } from "./templates.ts";

/** An existing workflow with the operations that it lacked, and how it differs from the description. */
interface Merged {
  readonly text: string;
  readonly added: readonly string[];
  /** The environment variables that are new in it. */
  readonly environment: readonly string[];
  /** Steps that no longer fit their operations, with the reasons. */
  readonly changed: readonly string[];
  /** Requests that the description does not have any more. */
  readonly gone: readonly string[];
}

/**
 * Adds the steps of new operations to a workflow, and changes nothing else in it: what it has
 * already belongs to its author.
 */
export function mergeWorkflow(
  file: Source,
  existing: Existing,
  { operations, schemes }: Api,
  { draft, jobs, placed, environment }: ReturnType<typeof makeWorkflow>,
): Merged {
  const { places, jobs: newJobs } = placed!;
  const keys = [...schemes.values()].flatMap((scheme) => scheme.kind === "key" ? scheme.name : []);
  const drafts = new Map(
    jobs.flatMap((job, at) =>
      job.operations.map((operation, index) =>
        [operation, draft.jobs[at]!.steps[index]!.data] as const
      )
    ),
  );
  const steps = places.flatMap(({ operation, job, after }): Insertion[] => {
    const item = drafts.get(operation) as Dict;
    return job === undefined ? [] : [{ path: ["jobs", job, "steps"], after, item }];
  });
  const added = newJobs.map(({ id }): Insertion & { readonly item: Dict } => {
    const job = draft.jobs.find(({ keys }) => keys?.id === id)!;
    const item = {
      name: literalText(job.name),
      ...job.keys,
      steps: job.steps.map(({ data }) => data as Dict),
    };
    return { path: ["jobs"], after: existing.jobs.length - 1, item, text: renderJob(job) };
  });
  const used = printYaml([...steps, ...added]).matchAll(/\bvars\.(\w+)/g);
  const read = new Set([...used].map(([, name]) => name!));
  const vars = Object.entries(draft.vars).filter(([name]) =>
    read.has(name) && !Object.hasOwn(existing.vars, name)
  );
  return {
    text: insertYaml(file, [
      ...steps,
      ...added,
      ...vars.length === 0 ? [] : [addedVars(Object.fromEntries(vars), existing)],
    ]),
    environment: environment.filter((name) =>
      vars.some(([, value]) => String(value).includes(name))
    ),
    added: places.map(({ operation }) => `${nameOf(operation)} (${drafts.get(operation)!.id})`),
    changed: operations.flatMap((operation) => {
      const step = existing.stepOf(operation);
      const changes = step ? changesOf(operation, step, existing, keys) : [];
      return changes.length === 0 ? [] : [`${nameOf(operation, step)}: ${changes.join("; ")}`];
    }),
    gone: existing.unknown.map((step) =>
      nameOf({ method: step.method, path: step.url.split("?")[0]! }, step)
    ),
  };
}

function addedVars(vars: Dict, { root }: Existing): Insertion {
  return root.vars === undefined ? { path: [], pairs: { vars } } : { path: ["vars"], pairs: vars };
}

function nameOf({ method, path }: Pick<Operation, "method" | "path">, step?: ExistingStep): string {
  return `${method.toUpperCase()} ${path}${step?.id === undefined ? "" : ` (${step.id})`}`;
}

/** How the step of an operation no longer fits it. */
function changesOf(
  operation: Operation,
  step: ExistingStep,
  existing: Existing,
  keys: readonly string[],
): string[] {
  return [
    ...existing.isAt(operation, step)
      ? []
      : [`the step sends ${step.method.toUpperCase()} ${step.url.split("?")[0]}`],
    ...parameterChanges(operation, step, existing, keys),
    ...bodyChanges(operation, step),
    ...statusChanges(operation, step),
  ];
}

function parameterChanges(
  { parameters }: Operation,
  step: ExistingStep,
  existing: Existing,
  keys: readonly string[],
): string[] {
  const params = dictOf(step.data.with);
  const defaults = existing.defaultsOf(step.job);
  const changes: string[] = [];
  for (const kind of ["query", "header"] as const) {
    const written = params[kind === "query" ? "query" : "headers"] ?? {};
    // A template may have any of them.
    if (!isDict(written)) continue;
    const inUrl = kind === "query"
      ? step.url.matchAll(/[?&]([^=&]+)=/g).map(([, name]) => name!)
      : [];
    const shared = kind === "query" ? defaults.query : defaults.headers;
    const key = (name: string) => kind === "query" ? name : name.toLowerCase();
    const sent = new Set([...Object.keys(written), ...inUrl, ...shared.keys()].map(key));
    const described = parameters.filter(({ location }) => location === kind);
    for (const { name, isRequired } of described) {
      if (isRequired && !sent.has(key(name))) {
        changes.push(`requires the ${PARAMETER[kind]} "${name}"`);
      }
    }
    if (kind === "header") continue;
    for (const name of Object.keys(written)) {
      if (keys.includes(name) || described.some((one) => one.name === name)) continue;
      changes.push(`has no ${PARAMETER[kind]} "${name}"`);
    }
  }
  return changes;
}

const PARAMETER = { query: "query parameter", header: "header" };

function bodyChanges({ body }: Operation, { data }: ExistingStep): string[] {
  const params = dictOf(data.with);
  const written = BODIES.map((key) => params[key]).find((value) => value !== undefined);
  if (written === undefined) return body?.isRequired ? ["requires a body"] : [];
  if (!body) return ["has no body"];
  if (!isDict(written)) return [];
  const missing = body.required.filter((name) => !Object.hasOwn(written, name));
  return missing.map((name) => `requires "${name}" in the body`);
}

const BODIES = ["body", "json", "form", "multipart", "graphql", "file"];

/** The codes that the test of a step names, if the description has none of them. */
function statusChanges({ statuses }: Operation, { data: { test } }: ExistingStep): string[] {
  const text = JSON.stringify(test ?? "");
  const codes = [...text.matchAll(/res\.code (?:== (\d{3})|in \[([\d, ]+)\])/g)]
    .flatMap(([, one, list = ""]) => one ?? list.split(/, */));
  const isDescribed = (code: string) =>
    statuses.some((status) =>
      status === code || status === "default" || status.toUpperCase() === `${code[0]}XX`
    );
  if (codes.length === 0 || statuses.length === 0 || codes.some(isDescribed)) return [];
  return [`responds ${statuses.join(", ")}, and the step expects ${codes.join(", ")}`];
}
