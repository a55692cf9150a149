import { replaceAt, type Value } from "../../base/value/value.ts";
import { quoteText } from "./literal.ts";
import type { JobData, StepData } from "./workflow_data.ts";
import { ANY_SECRET, namesSecret, type Variables } from "./variables.ts";

/** A hard-coded secret in a workflow. */
export interface FoundSecret {
  readonly path: readonly (string | number)[];
  /** The secret itself. */
  readonly text: string;
  /** Its range in the text at the path; undefined for the whole text. */
  readonly range?: { readonly start: number; readonly end: number };
}

/** Finds hard-coded secrets in a workflow, which is given as data. */
export type FindSecrets = (workflow: unknown) => readonly FoundSecret[];

interface Parts {
  readonly jobs: readonly JobData[];
  readonly vars: Readonly<Record<string, Value>>;
}

/** Replaces hard-coded secrets by variables that read the environment. */
export function hideSecrets(parts: Parts, find: FindSecrets, variables: Variables): Parts {
  // A text in which one secret was replaced may contain more of them.
  let hidden = parts;
  for (let round = 0; round < 20; round++) {
    const next = hideFound(hidden, find, variables);
    if (next === hidden) break;
    hidden = next;
  }
  return hidden;
}

function hideFound(parts: Parts, find: FindSecrets, variables: Variables): Parts {
  const { jobs, vars } = parts;
  const found = find({ vars, jobs: jobs.map(({ head, steps }) => ({ ...head, steps })) });
  if (found.length === 0) return parts;
  // Variables of the workflow whose values are secrets read the environment themselves.
  const own = found.flatMap(({ path: [root, name] }) =>
    root === "vars" ? [[name, variables.readEnvironment(String(name), ANY_SECRET)]] : []
  );
  const sent = found.filter(({ path: [root] }) => root !== "vars")
    .map((secret) => ({ ...secret, name: variableFor(secret, variables) }));
  const steps = jobs.map((job) => [...job.steps]);
  // From the last to the first, so that the earlier ranges stay valid.
  for (const { path: [, job, , step, ...inside], range, name } of sent.toReversed()) {
    const list = steps[Number(job)]!;
    list[Number(step)] = replaceAt(list[Number(step)]!, inside, (text) => {
      const { start, end } = range ?? { start: 0, end: text.length };
      return `${text.slice(0, start)}{{vars.${name}}}${text.slice(end)}`;
    }) as StepData;
  }
  return {
    jobs: jobs.map(({ head }, index) => ({ head, steps: steps[index]! })),
    vars: { ...variables.all(), ...vars, ...Object.fromEntries(own) },
  };
}

function variableFor({ path, text, range }: FoundSecret, variables: Variables): string {
  const name = String(path.findLast((part) => typeof part === "string"));
  // A value that is a secret only by its name may be a keyword of the API: keep it as the default.
  const isWord = range === undefined && !namesSecret(name);
  return variables.fromEnvironment(name, isWord ? quoteText(text) : ANY_SECRET);
}
