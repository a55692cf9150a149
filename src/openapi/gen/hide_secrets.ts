import { type Dict, replaceAt, type Value } from "../../base/value/value.ts";
import type { Draft } from "./draft.ts";
import { appendExpression } from "./templates.ts";

/** A hard-coded secret in a workflow. */
export interface FoundSecret {
  readonly path: readonly (string | number)[];
  /** The secret itself. */
  readonly text: string;
  /** Its range in the text at the path; undefined for the whole text. */
  readonly range?: Range;
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Finds hard-coded secrets in a workflow as data. */
export type FindSecrets = (workflow: unknown) => readonly FoundSecret[];

/** Makes the vars that take the place of secrets. */
interface SecretVars {
  /** The new value of a var whose value contains a secret. */
  hide(name: string, value: Value): Value;
  /** The var for a secret at a path inside a step; `start` is its offset in the text there. */
  varFor(
    secret: FoundSecret,
    step: Dict,
    path: FoundSecret["path"],
    start: number,
  ): readonly [name: string, value: Value];
}

/** Replaces hard-coded secrets by variables. */
export function hideSecrets(draft: Draft, find: FindSecrets, secretVars: SecretVars): Draft {
  let { vars } = draft;
  let steps = draft.jobs.map((job) => job.steps.map(({ data }) => data as Dict));
  // A text in which one secret was replaced may contain more of them.
  for (let round = 0; round < 20; round++) {
    const found = find({ name: "", vars, jobs: steps.map((one) => ({ name: "", steps: one })) });
    if (found.length === 0) break;
    const replaced = found.map((secret) => {
      const [root, job, , step, ...inside] = secret.path;
      const range = withoutScheme(secret);
      if (root === "vars") {
        const name = String(job);
        vars = { ...vars, [name]: secretVars.hide(name, vars[name] ?? "") };
        return { path: undefined, range, name };
      }
      const data = steps[Number(job)]![Number(step)]!;
      const [name, value] = secretVars.varFor(secret, data, inside, range.start);
      vars = { ...vars, [name]: value };
      return { path: [job!, step!, ...inside], range, name };
    });
    // From the last to the first, so that the earlier ranges stay valid.
    for (const { path, range, name } of replaced.toReversed()) {
      if (!path) continue;
      const put = isExpression(path.slice(2)) ? putInLiteral : putInText;
      const change = (text: string) => put(text, name, range);
      steps = replaceAt(steps, path, change) as unknown as Dict[][];
    }
  }
  const jobs = draft.jobs.map((job, index) => ({
    ...job,
    steps: job.steps.map(({ notes }, at) => ({ notes, data: steps[index]![at]! })),
  }));
  return { ...draft, vars, jobs };
}

/** The range of a secret in its text, without the word before a credential: `Bearer `. */
function withoutScheme({ text, range }: FoundSecret): Range {
  if (range) return range;
  const [scheme = ""] = /^(?:Bearer|Basic|Token|Digest|ApiKey)\s+(?=\S+$)/i.exec(text) ?? [];
  return { start: scheme.length, end: text.length };
}

/** Whether the text at a path of a step is an expression. */
export function isExpression([key]: FoundSecret["path"]): boolean {
  return key === "test" || key === "outputs";
}

function putInText(text: string, name: string, { start, end }: Range): string {
  return appendExpression(text.slice(0, start), `vars.${name}`) + text.slice(end);
}

/** Templates mean nothing in an expression: the var is a part of the sum that the literal becomes. */
function putInLiteral(text: string, name: string, { start, end }: Range): string {
  const sum = `${text.slice(0, start)}' + vars.${name} + '${text.slice(end)}`;
  return sum.replace(/(?<![\w'])'' \+ (?=vars\.)/g, "").replace(/(?<=vars\.\w+) \+ ''(?!')/g, "");
}
