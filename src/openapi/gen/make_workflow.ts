import { countOf } from "../../base/text/count_of.ts";
import type { Dict } from "../../base/value/value.ts";
import type { Api, Operation } from "./api.ts";
import { type ApiCredentials, CredentialMaker, headersOf } from "./credentials.ts";
import {
  type Draft,
  type DraftJob,
  filled,
  literalText,
  quoteText,
  renderDraft,
  snakeCase,
  UniqueNames,
} from "../../draft/draft.ts";
import { type FindSecrets, type FoundSecret, hideSecrets } from "../../draft/hide_secrets.ts";
import { type ApiLink, findLinks, type Links } from "./links.ts";
import { ANY_SECRET, namesSecret, Variables } from "./variables.ts";
import { accessTo, type JobDefaults, makeStep } from "./make_step.ts";
import { type JobPlan, planJobs } from "./plan_jobs.ts";

/** A workflow file, and the parts of the description that could not be converted. */
interface MadeWorkflow {
  readonly text: string;
  readonly draft: Draft;
  /** The environment variables that it reads. */
  readonly environment: readonly string[];
  readonly notes: readonly string[];
}

/**
 * Makes a workflow that calls every operation of an API once, and checks requests and responses by
 * the description at that path. `origin` is the name of the description, and `taken` are ids
 * that its steps must not have.
 */
export function makeWorkflow(
  api: Api,
  findSecrets: FindSecrets,
  description: string,
  origin: string,
  taken: readonly string[] = [],
): MadeWorkflow {
  const variables = new Variables();
  const base = variables.fromEnvironment("base_url", serverExpression(api.server, variables));
  const { jobs, links } = planJobs(api.operations, findLinks(api.operations));
  const credentials = new CredentialMaker(api.schemes, variables);
  const ids = stepIds(jobs, taken);
  const outputs = findOutputs(links);
  // Credentials are the first variables, because users have to set them.
  for (const operation of api.operations) credentials.credentialsOf(operation);
  const made = jobs.map((job): DraftJob => {
    const defaults = defaultsOf(job, credentials);
    const steps = job.operations.map((operation) => {
      return {
        notes: [],
        data: makeStep(operation, {
          id: ids.get(operation)!,
          links: links.get(operation)!,
          outputs: outputs.get(operation) ?? new Map(),
          credentials: credentials.credentialsOf(operation),
          defaults,
          outputOf: (link) => outputExpression(link, ids, outputs),
          variables,
          server: serverVariable(operation, api, variables),
        }),
      };
    });
    const name = job.name.replace(/\s+/g, " ");
    return { name, keys: keysOf(job, defaults, base, description), steps };
  });
  const name = api.title.replace(/\s+/g, " ").trim();
  const hidden = hideSecrets(
    { name, vars: variables.all(), jobs: made, notes: [] },
    findSecrets,
    fallbackFor,
  );
  const { draft } = hidden;
  const environment = [
    ...new Set([...variables.environment(), ...Object.keys(hidden.environment)]),
  ];
  const nulls = draft.jobs.some(({ steps }) =>
    steps.some(({ data: { vars = {} } }) => Object.values(vars as Dict).includes(null))
  );
  const head = [
    `Made by "runner gen" from ${origin.replace(/\p{C}/gu, "?")}.`,
    `Set in the environment: ${environment.join(", ")}.`,
    ...nulls ? ["Parameters whose value is null are not sent."] : [],
  ];
  return {
    text: renderDraft(draft, head),
    draft,
    environment,
    notes: [...credentials.refused].map(([reason, operations]) => noteOf(reason, operations)),
  };
}

function noteOf(reason: string, operations: readonly Operation[]): string {
  const [{ method, path }] = operations as [Operation];
  const count = operations.length - 1;
  const others = count === 0 ? "" : ` and to ${countOf(count, "more operation")}`;
  return `no credentials are sent to ${method.toUpperCase()} ${path}${others}: ${reason}`;
}

function keysOf(job: JobPlan, defaults: JobDefaults, base: string, description: string): Dict {
  const headers = [
    ...defaults.accept === undefined ? [] : [["Accept", literalText(defaults.accept)] as const],
    ...defaults.headers,
  ];
  return {
    id: job.id,
    ...job.needs.length === 0 ? {} : { needs: job.needs },
    defaults: {
      http: {
        url: `{{vars.${base}}}`,
        openapi: literalText(description),
        ...filled({
          headers: Object.fromEntries(headers),
          query: Object.fromEntries(defaults.query),
        }),
      },
    },
  };
}

/** The defaults for what most steps of a job send. */
function defaultsOf(job: JobPlan, maker: CredentialMaker): JobDefaults {
  const all = job.operations.map((operation) => maker.credentialsOf(operation));
  const common = mostCommon(all);
  return {
    headers: common ? headersOf(common) : new Map(),
    query: common?.query ?? new Map(),
    accept: mostCommon(job.operations.flatMap(({ accept }) => accept ?? [])),
  };
}

/** The most frequent value; the first of equally frequent ones. */
function mostCommon<T extends string | ApiCredentials>(values: readonly T[]): T | undefined {
  const counts = new Map<T, number>();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return [...counts].toSorted(([, a], [, b]) => b - a)[0]?.[0];
}

function stepIds(jobs: readonly JobPlan[], taken: readonly string[]): Map<Operation, string> {
  const names = new UniqueNames(taken);
  return new Map(
    jobs.flatMap(({ operations }) => operations).map((operation) => {
      const { id, method, path } = operation;
      const wanted = snakeCase(id ?? "") ?? snakeCase(`${method}_${path}`) ?? method;
      return [operation, names.take(wanted)];
    }),
  );
}

/** The fields that links read from responses, as named outputs. */
type Outputs = ReadonlyMap<Operation, ReadonlyMap<string, readonly string[]>>;

function findOutputs(links: Links): Outputs {
  const outputs = new Map<Operation, Map<string, readonly string[]>>();
  for (const { creator, field } of [...links.values()].flatMap((all) => [...all.values()])) {
    const fields = outputs.getOrInsertComputed(creator, () => new Map());
    if (nameOfField(fields, field) !== undefined) continue;
    const wanted = snakeCase(field.at(-1)!) ?? "id";
    fields.set(new UniqueNames(fields.keys()).take(wanted), field);
  }
  return outputs;
}

function outputExpression(
  { creator, field }: ApiLink,
  ids: ReadonlyMap<Operation, string>,
  outputs: Outputs,
): string {
  const name = nameOfField(outputs.get(creator)!, field)!;
  return accessTo("outputs", [ids.get(creator)!, name]);
}

function nameOfField(
  fields: ReadonlyMap<string, readonly string[]>,
  field: readonly string[],
): string | undefined {
  return [...fields].find(([, known]) => known.join("\0") === field.join("\0"))?.[0];
}

/** The variable for an operation with its own server. */
function serverVariable(
  { server }: Operation,
  api: Api,
  variables: Variables,
): string | undefined {
  if (server === undefined || server === api.server) return undefined;
  const [label = ""] = URL.parse(server)?.hostname.split(".") ?? [];
  const expression = serverExpression(server, variables);
  return variables.fromEnvironment(`${snakeCase(label) ?? "other"}_url`, expression);
}

/** A server URL; parts of it without a default are read from the environment, and must be set. */
function serverExpression(server: string, variables: Variables): string {
  const parts = server.split(/(?<!\{)\{([^{}]+)\}(?!\})/).map((part, index) =>
    index % 2 === 0 ? quoteText(part) : variables.requireEnvironment(`server_${part}`)
  );
  const sum = parts.filter((part, index) => index === 0 || part !== "''").join(" + ");
  return parts.length > 1 ? `(${sum})` : sum;
}

/** The value of a secret that the environment does not have. */
function fallbackFor({ path, text, range }: FoundSecret): string {
  const name = String(path.findLast((part) => typeof part === "string"));
  // A value that is a secret only by its name may be a keyword of the API: keep it as the default.
  const isWord = path[0] !== "vars" && range === undefined && !namesSecret(name);
  return isWord ? quoteText(text) : ANY_SECRET;
}
