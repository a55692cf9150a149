import { type Dict, type Value, valueAt } from "../base/value/value.ts";
import type { Draft } from "../openapi/gen/draft.ts";
import {
  type FindSecrets,
  type FoundSecret,
  hideSecrets,
  isExpression,
} from "../openapi/gen/hide_secrets.ts";
import { environmentName, snakeCase, UniqueNames } from "../openapi/gen/templates.ts";
import { secretName } from "../openapi/gen/variables.ts";
import { isSecretName, SHORTEST_SECRET } from "../secrets/secrets.ts";

/** A workflow without the secrets of its input, and the variables that it reads them from. */
export interface WithoutSecrets {
  readonly draft: Draft;
  /** The secrets by the names of the variables. */
  readonly environment: Readonly<Record<string, string>>;
}

/** Replaces secrets by `vars` that read the environment. */
export function hideDraftSecrets(draft: Draft, find: FindSecrets): WithoutSecrets {
  const names = new UniqueNames(Object.keys(draft.vars));
  const environment: Record<string, string> = {};
  /** The var of each secret. */
  const known = new Map<string, string>();
  const read = (name: string, secret: string): Value => {
    environment[environmentName(name)] = secret;
    return `{{${environmentName(name)}}}`;
  };
  const hidden = hideSecrets(draft, find, {
    hide: (name, value) => read(name, String(value)),
    varFor({ text, range }, step, path, start) {
      const secret = range ? text : text.slice(start);
      const name = known.getOrInsertComputed(
        secret,
        () => names.take(secretName(nameOf(path, start, step))),
      );
      return [name, read(name, secret)];
    },
  });
  const secrets = Object.values(environment);
  const hide = (notes: readonly string[]) => maskNotes(notes, secrets, find);
  // Names are made of URLs.
  const long = secrets.filter((secret) => secret.length >= SHORTEST_SECRET);
  const jobs = hidden.jobs.map((job) => ({
    ...job,
    ...job.notes ? { notes: hide(job.notes) } : {},
    steps: job.steps.map(({ notes, data }) => ({
      notes: hide(notes),
      data: { ...data, name: mask(String(data.name), long) },
    })),
  }));
  return { draft: { ...hidden, notes: hide(hidden.notes), jobs }, environment };
}

/** Masks secrets in the parts that are not translated. */
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
