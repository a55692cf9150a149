import { isDict, type Value } from "../../value/value.ts";
import { quoteText } from "./literal.ts";
import type { JobData } from "./workflow_data.ts";
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
  const workflow = { vars, jobs: jobs.map(({ head, steps }) => ({ ...head, steps })) };
  const found = find(workflow);
  if (found.length === 0) return parts;
  const changes: Changes = new Map();
  // From the last to the first, so that the earlier ranges stay valid.
  for (const secret of found.toReversed()) {
    const key = JSON.stringify(secret.path);
    changes.set(key, [...changes.get(key) ?? [], secret]);
  }
  const replaced = jobs.map(({ head, steps }, index) => ({
    head,
    steps: steps.map((step, at) => {
      const path = ["jobs", index, "steps", at];
      return change(step, path, changes, variables) as typeof step;
    }),
  }));
  const own = ownVars(vars, changes, variables);
  return { jobs: replaced, vars: { ...variables.all(), ...vars, ...own } };
}

type Changes = Map<string, FoundSecret[]>;
type Path = readonly (string | number)[];

/** Variables of the workflow whose values are secrets read the environment themselves. */
function ownVars(
  vars: Readonly<Record<string, Value>>,
  changes: Changes,
  variables: Variables,
): Record<string, Value> {
  return Object.fromEntries(
    Object.keys(vars).flatMap((name) => {
      if (!changes.has(JSON.stringify(["vars", name]))) return [];
      return [[name, variables.readEnvironment(name, ANY_SECRET)]];
    }),
  );
}

function change(value: Value, path: Path, changes: Changes, variables: Variables): Value {
  if (typeof value === "string") {
    let text = value;
    for (const secret of changes.get(JSON.stringify(path)) ?? []) {
      const { start, end } = secret.range ?? { start: 0, end: text.length };
      const name = `{{vars.${variableFor(secret, variables)}}}`;
      text = text.slice(0, start) + name + text.slice(end);
    }
    return text;
  }
  if (Array.isArray(value)) {
    return value.map((item, index) => change(item, [...path, index], changes, variables));
  }
  if (!isDict(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      change(field, [...path, key], changes, variables),
    ]),
  );
}

function variableFor({ path, text, range }: FoundSecret, variables: Variables): string {
  const name = String(path.findLast((part) => typeof part === "string"));
  // A value that is a secret only by its name may be a keyword of the API: keep it as the default.
  const isWord = range === undefined && !namesSecret(name);
  return variables.fromEnvironment(name, isWord ? quoteText(text) : ANY_SECRET);
}
