import { isDict } from "../base/value/value.ts";
import type { Path } from "../base/source.ts";
import { findExchangedSecrets, findVariableSecrets } from "../secrets/find_secrets.ts";
import { isCredentialHeader, isSecretName, SHORTEST_SECRET } from "../secrets/secrets.ts";
import type { LiteralSecret } from "./model.ts";

/** Finds what has the form of a secret, anywhere, and the values of keys with secret names. */
export function findLiteralSecrets(
  root: unknown,
  files: readonly { readonly text: string }[],
): readonly LiteralSecret[] {
  const secrets: LiteralSecret[] = [];
  const known = new Set<object>();
  const hasTokens = files.some(({ text }) => TRACES.test(text));
  // One list for all, since a file has many values and few secrets.
  const path: (string | number)[] = [];
  const walk = (value: unknown, isData: boolean) => {
    if (typeof value === "string") {
      // One is enough: all of the text has to be replaced.
      const token = hasTokens ? findToken(value) : undefined;
      const why = token?.why ?? (isData ? whyNamed(value, path) : undefined);
      if (why !== undefined) secrets.push({ path: [...path], text: value, ...token, why });
    } else if (typeof value === "object" && value !== null && !known.has(value)) {
      known.add(value);
      const step = (key: string | number, part: unknown) => {
        const isDataHere = isData || typeof key === "string" && isDataKey(key, path);
        path.push(key);
        walk(part, isDataHere);
        path.pop();
      };
      if (Array.isArray(value)) value.forEach((item, index) => step(index, item));
      else for (const [key, part] of Object.entries(value)) step(key, part);
    }
  };
  if (isDict(root)) walk(root, false);
  return secrets;
}

/** Whether the value under a key of the workflow, a job or a step is data. */
function isDataKey(key: string, path: Path): boolean {
  const [list, , ...rest] = path[0] === "jobs" ? path.slice(2) : path;
  if (list === undefined) return key === "defaults" || key === "vars";
  return (list === "steps" || list === "finally") && rest.length === 0 &&
    ["with", "vars", "iteration"].includes(key);
}

function whyNamed(value: string, path: Path): string | undefined {
  const name = String(path.at(-1));
  const isHeader = String(path.at(-2)).toLowerCase() === "headers" && isCredentialHeader(name);
  if (!isSecretValue(name, value, isHeader)) return undefined;
  return `${isHeader ? `the header "${name}"` : `"${name}"`} holds a hard-coded secret`;
}

/** Whether the value of a field is a hard-coded secret, going by its name. */
export function isSecretValue(name: string, value: string, isHeader: boolean): boolean {
  if (!isHeader && !isSecretName(name)) return false;
  if (value.includes("{{") || value.trim().length < SHORTEST_SECRET) return false;
  if (isHeader) {
    const [, credential = value] = /^(?:basic|bearer|token|digest)\s+(.*)$/is.exec(value) ?? [];
    return !(isCookie(name) && !NAMED_COOKIE.test(value.slice(0, 5000)) || isStandIn(credential));
  }
  if (ABOUT_A_SECRET.test(name) || isStandIn(value)) return false;
  return STRONG_NAME.test(name) || looksRandom(value);
}

function isCookie(header: string): boolean {
  return /cookie$/i.test(header);
}

const NAMED_COOKIE = /(?:sess|sid|auth|token|jwt)\w*\s*=\s*[^;\s]{6,}/i;

/** Names that are about a secret: `token_url`, `key_id`. Reports show only some of them. */
const ABOUT_A_SECRET =
  /(?:ur[il]|type|name|id|file|path|dir|field|count|length|size|limit|ttl|expir\w*|age|method|mode|scheme|header|prefix|policy|format|algorithm|env|endpoint|param|hint|label|store|status|regexp?|pattern)$/i;

/** Names that are used for secrets alone; "key", for example, has other uses. */
const STRONG_NAME = /token|secret|passw|credential|api[-_]?key|access[-_]?key|private[-_]?key/i;

/** Words of placeholders, and of values that are wrong on purpose. */
const STAND_IN =
  /(?:^|[^a-z])(?:wrong|invalid|incorrect|bad|fake|dummy|expired|default|unknown|missing|none|null|nil|empty|example|sample|placeholder|redacted|change[-_ ]?me|your|todo|not[-_ ]?a|no[-_ ]?such)(?:$|[^a-z])/i;

/** Whether a value is a placeholder, or wrong on purpose. */
function isStandIn(value: string): boolean {
  return STAND_IN.test(value) || /^(.)\1*$/.test(value) || /^<.*>$|^\$|^\[.*\]$/.test(value) ||
    /^(?:https?:\/\/|\.{0,2}\/)/.test(value);
}

/** Whether a value is not a word of any language: letters and digits in one piece. */
function looksRandom(value: string): boolean {
  return /^[\w+/=.~-]{8,}$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value) &&
    !/^[a-z]+[-_.]?\d{1,4}$/i.test(value) && !/^v?\d+(?:\.\d+)+/.test(value);
}

/**
 * Finds what a run would mask in the vars and in what the steps send: passwords in URLs, fields
 * with secret names also within texts, and all passwords of `auth`. It finds more than
 * `findLiteralSecrets`, for files that nobody has written by hand.
 */
export function findSentSecrets(root: unknown): readonly LiteralSecret[] {
  const secrets: LiteralSecret[] = [];
  const path: (string | number)[] = [];
  const vars = new Map(Object.entries(isDict(root) && isDict(root.vars) ? root.vars : {}));
  const walk = (value: unknown) => {
    if (typeof value === "string") {
      const secret = secretIn(value, path);
      if (secret !== undefined) secrets.push({ path: [...path], why: "it is sent", ...secret });
      const names = new Set([...value.matchAll(/\{\{vars\.(\w+)\}\}/g)].map(([, name]) => name!));
      for (const name of names) {
        const whole = `{{vars.${name}}}`;
        // A var whose own name does not say it.
        const text = String(vars.get(name) ?? whole);
        if (!secretIn(value.replace(whole, () => text), path)?.text.endsWith(text)) continue;
        secrets.push({ path: ["vars", name], why: "it is sent", text });
        vars.delete(name);
      }
    } else if (typeof value === "object" && value !== null) {
      for (const [key, part] of Object.entries(value)) {
        path.push(Array.isArray(value) ? Number(key) : key);
        if (path[0] === "vars" || path[0] === "jobs" && isSent(path)) walk(part);
        path.pop();
      }
    }
  };
  if (isDict(root)) walk(root);
  return secrets;
}

/** The secrets of a workflow that nobody has written by hand. */
export function findDraftSecrets(workflow: unknown): readonly LiteralSecret[] {
  const literal = findLiteralSecrets(workflow, [{ text: JSON.stringify(workflow) }]);
  // One after the other: both may find the same secret.
  return literal.length > 0 ? literal : findSentSecrets(workflow);
}

/** Whether a part of a job is, has or is in the `with` of a step. */
function isSent(path: readonly (string | number)[]): boolean {
  return (path[2] ?? "steps") === "steps" && (path[4] ?? "with") === "with";
}

function secretIn(
  value: string,
  path: readonly (string | number)[],
): Pick<LiteralSecret, "text" | "range"> | undefined {
  const inside = path.slice(5);
  const isAuth = inside.includes("auth");
  const name = String(path.findLast((part) => typeof part === "string"));
  // The values of cookies are mostly settings.
  if (/^cookie$/i.test(name)) return undefined;
  let found: string | undefined;
  const add = (text: string) => {
    const isLong = text.length >= (isAuth ? 1 : SHORTEST_SECRET);
    if (isLong && !text.includes("{{") && !isStandIn(text) && value.includes(text)) found ??= text;
  };
  if (path[0] === "vars") findVariableSecrets({ [name]: value }, add);
  else if (inside.includes("headers")) findExchangedSecrets({ headers: { [name]: value } }, add);
  else findExchangedSecrets({ [name]: value }, add);
  if (found === undefined) return undefined;
  if (found === value) return { text: found };
  const start = value.lastIndexOf(found);
  return { text: found, range: { start, end: start + found.length } };
}

/** Forms in which well-known services write their secrets. Each says what it is. */
const FORMS: readonly { readonly what: string; readonly form: string }[] = [
  { what: "a GitHub token", form: "\\bgh[pousr]_[A-Za-z0-9]{16,}|\\bgithub_pat_\\w{20,}" },
  { what: "a GitLab token", form: "\\bglpat-[\\w-]{16,}" },
  { what: "an AWS access key", form: "\\b(?:AKIA|ASIA)[0-9A-Z]{16}\\b" },
  { what: "a Slack token", form: "\\bxox[abeprs]-[A-Za-z0-9-]{8,}" },
  { what: "a Stripe key", form: "\\b[sr]k_live_[A-Za-z0-9]{8,}" },
  { what: "a Google API key", form: "\\bAIza[\\w-]{35}" },
  { what: "an npm token", form: "\\bnpm_[A-Za-z0-9]{36}\\b" },
  { what: "a JSON Web Token", form: "\\beyJ[\\w-]{8,}\\.eyJ[\\w-]{8,}(?:\\.[\\w-]*)?" },
  {
    what: "a private key",
    form:
      "-----BEGIN (?:[A-Z0-9]+ )*PRIVATE KEY-----(?:[\\s\\S]{0,4000}?-----END (?:[A-Z0-9]+ )*PRIVATE KEY-----)?",
  },
  {
    what: "a bearer token",
    form: "(?<=\\b[Bb]earer {1,3})(?=[A-Za-z._~+/-]*\\d)[\\w.~+/-]{16,}=*",
  },
];

const ONE = new RegExp(FORMS.map(({ form }) => `(${form})`).join("|"));
const EACH = new RegExp(ONE, "g");

/** A cheaper look at whether any form may be in a text. */
const TRACES =
  /gh[pousr]_|github_pat_|glpat-|AKIA|ASIA|xox[abeprs]-|k_live_|AIza|npm_|eyJ|PRIVATE KEY|earer /;

/** The first thing in a text that has the form of a secret. */
function findToken(text: string): Pick<LiteralSecret, "text" | "why" | "range"> | undefined {
  const match = TRACES.test(text) ? ONE.exec(text) : undefined;
  if (!match) return undefined;
  const [found, ...groups] = match;
  const { what } = FORMS[groups.findIndex((group) => group !== undefined)]!;
  const range = { start: match.index, end: match.index + found.length };
  return { text: found, why: `this is ${what}`, range };
}

/** A text with something else for each secret in it. */
export function replaceTokens(text: string, by: string): string {
  return TRACES.test(text) ? text.replace(EACH, by) : text;
}
