import type { FindSecrets } from "../openapi/gen/make_workflow.ts";
import { environmentName, snakeCase, UniqueNames } from "../openapi/gen/templates.ts";
import { isSecretName, SHORTEST_SECRET } from "../secrets/secrets.ts";
import { type Dict, replaceAt, type Value, valueAt } from "../base/value/value.ts";
import type { Draft } from "../openapi/gen/draft.ts";

/** A workflow without the secrets of its input, and the variables that it reads them from. */
export interface WithoutSecrets {
  readonly draft: Draft;
  /** The secrets by the names of the variables. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Replaces secrets by `vars` that read the environment. */
export function hideDraftSecrets(draft: Draft, find: FindSecrets): WithoutSecrets {
  const names = new UniqueNames(Object.keys(draft.vars));
  /** The var of each secret. */
  const known = new Map<string, string>();
  const vars: Record<string, Value> = { ...draft.vars };
  let steps = draft.jobs.map((job) => job.steps.map(({ data }) => data as Dict));
  const environment: Record<string, string> = {};
  // A text in which one secret was replaced may contain more of them.
  for (let round = 0; round < 20; round++) {
    const found = find({ name: "", vars, jobs: steps.map((one) => ({ name: "", steps: one })) });
    if (found.length === 0) break;
    // From the last to the first, so that the earlier ranges stay valid.
    for (const { path, text, range } of found.toReversed()) {
      if (path[0] === "vars") {
        const name = String(path[1]);
        const whole = vars[name];
        environment[environmentName(name)] = typeof whole === "string" ? whole : text;
        vars[name] = `{{${environmentName(name)}}}`;
        continue;
      }
      const { start, end } = withoutScheme(text, range);
      const secret = text.slice(start - (range?.start ?? 0));
      const name = known.get(secret) ?? names.take(nameOf(path, start, steps));
      known.set(secret, name);
      environment[environmentName(name)] = secret;
      vars[name] = `{{${environmentName(name)}}}`;
      const [, job, , step, ...inside] = path;
      const put = isExpression(inside) ? putInLiteral : putInText;
      const change = (text: string) => put(text, name, { start, end });
      steps = replaceAt(steps, [job!, step!, ...inside], change) as unknown as Dict[][];
    }
  }
  const secrets = Object.values(environment);
  const hide = (notes: readonly string[]) => maskNotes(notes, secrets, find);
  // Names are made of URLs.
  const long = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
  return {
    draft: {
      ...draft,
      vars,
      notes: hide(draft.notes),
      jobs: draft.jobs.map((job, index) => ({
        ...job,
        ...job.notes ? { notes: hide(job.notes) } : {},
        steps: job.steps.map(({ notes }, at) => {
          const data = steps[index]![at]!;
          return { notes: hide(notes), data: { ...data, name: mask(String(data.name), long) } };
        }),
      })),
    },
    environment,
  };
}

/** What is not translated may have secrets, too. */
function maskNotes(
  notes: readonly string[],
  known: readonly string[],
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
    return mask(note, [...known, ...set, ...found.map(({ text }) => text)]);
  });
}

function mask(text: string, secrets: readonly string[]): string {
  return secrets.reduce((all, one) => one === "" ? all : all.replaceAll(one, "***"), text);
}

interface Range {
  readonly start: number;
  readonly end: number;
}

/** Where a secret is in its text, without the word before a credential: `Bearer `. */
function withoutScheme(text: string, range: Range | undefined): Range {
  if (range) return range;
  const [scheme = ""] = /^(?:Bearer|Basic|Token|Digest|ApiKey)\s+(?=\S+$)/i.exec(text) ?? [];
  return { start: scheme.length, end: text.length };
}

/** Whether the text at a path of a step is an expression. */
function isExpression([key]: readonly (string | number)[]): boolean {
  return key === "test" || key === "outputs";
}

/** A name for the secret under a path: that of its key, in an expression of what it is compared to. */
function nameOf(
  path: readonly (string | number)[],
  start: number,
  steps: readonly (readonly Dict[])[],
): string {
  const [, job, , step, ...inside] = path;
  const whole = String(valueAt(steps[Number(job)]![Number(step)]!, inside));
  if (isExpression(inside)) {
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

function putInText(text: string, name: string, { start, end }: Range): string {
  return `${text.slice(0, start)}{{vars.${name}}}${text.slice(end)}`;
}

/** Templates mean nothing in an expression: the var is a part of the sum that the literal becomes. */
function putInLiteral(text: string, name: string, { start, end }: Range): string {
  const sum = `${text.slice(0, start)}' + vars.${name} + '${text.slice(end)}`;
  return sum.replace(/(?<![\w'])'' \+ (?=vars\.)/g, "").replace(/(?<=vars\.\w+) \+ ''(?!')/g, "");
}
