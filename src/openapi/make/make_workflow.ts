import type { Value } from "../../base/value/value.ts";
import { type ApiCredentials, CredentialMaker, headersOf } from "./credentials.ts";
import { type JobPlan, planJobs } from "./jobs.ts";
import { type ApiLink, findLinks, type Links } from "../read/links.ts";
import { literalText, quoteText } from "./literal.ts";
import { type JobDefaults, makeStep } from "./make_step.ts";
import type { JobData, WorkflowData } from "./workflow_data.ts";
import type { Api, Operation } from "../read/api.ts";
import { snakeCase, UniqueNames } from "../read/names.ts";
import { type FindSecrets, hideSecrets } from "./hide_found_secrets.ts";
import { accessTo } from "./test_of.ts";
import { Variables } from "./variables.ts";

/**
 * Makes a workflow that calls every operation of an API once, and holds requests and responses
 * against the description at that path.
 */
export function makeWorkflow(
  api: Api,
  findSecrets: FindSecrets,
  description: string,
): WorkflowData {
  const variables = new Variables();
  const base = variables.fromEnvironment("base_url", quoteText(api.server));
  const { jobs, links } = planJobs(api.operations, findLinks(api.operations));
  const credentials = new CredentialMaker(api.schemes, variables);
  const ids = stepIds(jobs);
  const outputs = findOutputs(links);
  // Credentials are the first variables, because users have to set them.
  for (const operation of api.operations) credentials.credentialsOf(operation);
  const made = jobs.map((job): JobData => {
    const defaults = defaultsOf(job, credentials);
    const steps = job.operations.map((operation) =>
      makeStep(operation, {
        id: ids.get(operation)!,
        links: links.get(operation)!,
        outputs: outputs.get(operation) ?? new Map(),
        credentials: credentials.credentialsOf(operation),
        defaults,
        outputOf: (link) => outputExpression(link, ids, outputs),
        variables,
        ...serverOf(operation, api, variables),
      })
    );
    return { head: headOf(job, defaults, base, description), steps };
  });
  const name = literalText(api.title.replace(/\s+/g, " ").trim());
  return {
    name,
    ...hideSecrets({ jobs: made, vars: variables.all() }, findSecrets, variables),
    environment: variables.environment(),
    notes: [...credentials.refused].map(([reason, operations]) => noteOf(reason, operations)),
  };
}

function noteOf(reason: string, operations: readonly Operation[]): string {
  const [{ method, path }] = operations as [Operation];
  const count = operations.length - 1;
  const others = count === 0 ? "" : ` and to ${count} more operation${count === 1 ? "" : "s"}`;
  return `no credentials are sent to ${method.toUpperCase()} ${path}${others}: ${reason}`;
}

function headOf(
  job: JobPlan,
  defaults: JobDefaults,
  base: string,
  description: string,
): Record<string, Value> {
  const headers = [
    ...(defaults.accept === undefined ? [] : [["Accept", literalText(defaults.accept)] as const]),
    ...defaults.headers,
  ];
  return {
    name: literalText(job.name.replace(/\s+/g, " ")),
    id: job.id,
    ...(job.needs.length === 0 ? {} : { needs: job.needs }),
    defaults: {
      http: {
        url: `{{vars.${base}}}`,
        openapi: literalText(description),
        ...(headers.length === 0 ? {} : { headers: Object.fromEntries(headers) }),
        ...(defaults.query.size === 0 ? {} : { query: Object.fromEntries(defaults.query) }),
      },
    },
  };
}

/** The defaults for what most steps of a job send. */
function defaultsOf(job: JobPlan, maker: CredentialMaker): JobDefaults {
  const all = job.operations.map((operation) => maker.credentialsOf(operation));
  const common = mostCommon(all);
  const accept = mostCommon(job.operations.flatMap(({ accept }) => accept ?? []));
  return {
    headers: common ? headersOf(common) : new Map(),
    query: common?.query ?? new Map(),
    accept,
  };
}

/** The most frequent value; the first of equally frequent ones. */
function mostCommon<T extends string | ApiCredentials>(values: readonly T[]): T | undefined {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  let best: T | undefined;
  for (const [value, count] of counts) {
    if (best === undefined || count > counts.get(best)!) best = value;
  }
  return best;
}

function stepIds(jobs: readonly JobPlan[]): Map<Operation, string> {
  const names = new UniqueNames();
  const ids = new Map<Operation, string>();
  for (const operation of jobs.flatMap(({ operations }) => operations)) {
    const { id, method, path } = operation;
    const wanted = snakeCase(id ?? "") ?? snakeCase(`${method}_${path}`) ?? method;
    ids.set(operation, names.take(wanted));
  }
  return ids;
}

/** The fields that links read from responses, as named outputs. */
type Outputs = ReadonlyMap<Operation, ReadonlyMap<string, readonly string[]>>;

function findOutputs(links: Links): Outputs {
  const outputs = new Map<Operation, Map<string, readonly string[]>>();
  for (const { creator, field } of [...links.values()].flatMap((own) => [...own.values()])) {
    const own = outputs.get(creator) ?? new Map<string, readonly string[]>();
    outputs.set(creator, own);
    if ([...own.values()].some((known) => isSameWay(known, field))) continue;
    const wanted = snakeCase(field.at(-1)!) ?? "id";
    own.set(new UniqueNames(own.keys()).take(wanted), field);
  }
  return outputs;
}

function outputExpression(
  { creator, field }: ApiLink,
  ids: ReadonlyMap<Operation, string>,
  outputs: Outputs,
): string {
  const [name] = [...outputs.get(creator)!].find(([, known]) => isSameWay(known, field))!;
  return accessTo("outputs", [ids.get(creator)!, name]);
}

function isSameWay(a: readonly string[], b: readonly string[]): boolean {
  return a.join("\0") === b.join("\0");
}

/** The variable for an operation with its own server. */
function serverOf(
  { server }: Operation,
  api: Api,
  variables: Variables,
): { server?: string } {
  if (server === undefined || server === api.server) return {};
  const [label = ""] = URL.parse(server)?.hostname.split(".") ?? [];
  const name = snakeCase(label) ?? "other";
  return { server: variables.fromEnvironment(`${name}_url`, quoteText(server)) };
}
