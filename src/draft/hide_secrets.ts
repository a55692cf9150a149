import { type Dict, replaceAt, valueAt } from "../base/value/value.ts";
import { isSecretName, SHORTEST_SECRET } from "../secrets/secrets.ts";
import { appendExpression, type Draft, environmentName, snakeCase, UniqueNames } from "./draft.ts";

/** A hard-coded secret in a workflow. */
export interface FoundSecret {
  readonly path: readonly (string | number)[];
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

/** A workflow without the secrets of its input, and the variables that it reads them from. */
interface WithoutSecrets {
  readonly draft: Draft;
  /** The secrets by the names of the environment variables. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * Replaces secrets by `vars` that read the environment, or have the value of `fallback`, an
 * expression, if it is not set there.
 */
export function hideSecrets(
  draft: Draft,
  find: FindSecrets,
  fallback: (secret: FoundSecret) => string | undefined = () => undefined,
): WithoutSecrets {
  let { vars } = draft;
  let steps = draft.jobs.map((job) => job.steps.map(({ data }) => data as Dict));
  const names = new UniqueNames(Object.keys(vars));
  const environment: Record<string, string> = {};
  const nameOfSecret = new Map<string, string>();
  const readSecret = (name: string, text: string, secret: FoundSecret) => {
    const variable = environmentName(name);
    environment[variable] = text;
    const other = fallback(secret);
    vars = { ...vars, [name]: `{{${variable}${other === undefined ? "" : ` ?? ${other}`}}}` };
  };
  // A text in which one secret was replaced may contain more of them.
  for (let round = 0; round < 20; round++) {
    const found = find({ name: "", vars, jobs: steps.map((one) => ({ name: "", steps: one })) });
    if (found.length === 0) break;
    const replaced = found.map((secret) => {
      const [root, job, , step, ...inside] = secret.path;
      const range = withoutScheme(secret);
      if (root === "vars") {
        const name = String(job);
        readSecret(name, String(vars[name] ?? ""), secret);
        return { path: undefined, range, name };
      }
      const text = secret.range ? secret.text : secret.text.slice(range.start);
      const data = steps[Number(job)]![Number(step)]!;
      const name = nameOfSecret.getOrInsertComputed(
        text,
        () => names.take(secretName(nameOf(inside, range.start, data))),
      );
      readSecret(name, text, secret);
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
  const secrets = Object.values(environment);
  const hide = (notes: readonly string[]) => maskNotes(notes, secrets, find);
  // Names are made of URLs.
  const long = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
  const jobs = draft.jobs.map((job, index) => ({
    ...job,
    notes: hide(job.notes ?? []),
    steps: job.steps.map(({ notes }, at) => {
      const data = steps[index]![at]!;
      return { notes: hide(notes), data: { ...data, name: mask(String(data.name), long) } };
    }),
  }));
  return { draft: { ...draft, vars, notes: hide(draft.notes), jobs }, environment };
}

/** The range of a secret in its text, without the word before a credential: `Bearer `. */
function withoutScheme({ text, range }: FoundSecret): Range {
  if (range) return range;
  const [scheme = ""] = /^(?:Bearer|Basic|Token|Digest|ApiKey)\s+(?=\S+$)/i.exec(text) ?? [];
  return { start: scheme.length, end: text.length };
}

/** Whether the text at a path of a step is an expression. */
function isExpression([key]: FoundSecret["path"]): boolean {
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

/** Masks secrets in the parts that are not translated. */
function maskNotes(
  notes: readonly string[],
  secrets: readonly string[],
  find: FindSecrets,
): readonly string[] {
  return notes.map((note) => {
    const found = find({
      name: "",
      vars: {},
      jobs: [{ name: "", steps: [{ with: { body: note } }] }],
    });
    // `pm.environment.set("token", "…")`
    const set = [...note.matchAll(/["'`](\w+)["'`]\s*,\s*["'`]([^"'`]+)/g)]
      .filter(([, name]) => isSecretName(name!)).map(([, , value]) => value!);
    return mask(note, [...secrets, ...set, ...found.map(({ text }) => text)]);
  });
}

function mask(text: string, secrets: readonly string[]): string {
  return secrets.reduce((all, one) => one === "" ? all : all.replaceAll(one, "***"), text);
}

/** The key of a secret, or in an expression the value that it is compared to. */
function nameOf(path: FoundSecret["path"], start: number, step: Dict): string {
  const whole = String(valueAt(step, path));
  if (isExpression(path)) {
    const before = whole.slice(0, start).replace(/'[^']*$/, "");
    return snakeCase(/[A-Za-z_]\w*(?=\W*$)/.exec(before)?.[0] ?? "") ?? "secret";
  }
  // A URL or another text with fields names the secret itself.
  const [, field, user] = /([\w-]+)(?:"?\s*:\s*"|=|>\s*)$|\/\/([^/?#:@]*):$/
    .exec(whole.slice(0, start)) ?? [];
  const key = user !== undefined
    ? "password"
    : field ?? String(path.findLast((part) => typeof part === "string"));
  if (/^(?:authorization|bearer)$/i.test(key)) return "token";
  return /^cookie$/i.test(key) ? "session_cookie" : snakeCase(key) ?? "secret";
}

/** The name of a secret, which is not that of a variable of the machine: USER, PATH. */
function secretName(name: string): string {
  return isSecretName(name) ? name : `${name}_secret`;
}
