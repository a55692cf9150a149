import type { Path } from "../../base/source.ts";
import { isCredentialHeader, isSecretName, SHORTEST_SECRET } from "../../secrets/secrets.ts";
import { isRawMap } from "../../workflow/decode/decode_value.ts";
import { findToken, mayHoldTokens } from "./token_forms.ts";

/** A hard-coded secret in a document. */
export interface LiteralSecret {
  readonly path: Path;
  /** The secret itself, which nothing that is printed may show. */
  readonly text: string;
  /** Why it is taken for one, in words. */
  readonly why: string;
  /** Its range in the text at the path; undefined for the whole text. */
  readonly range?: { readonly start: number; readonly end: number };
}

/** Finds what has the form of a secret, anywhere, and the values of keys with secret names. */
export function findLiteralSecrets(
  root: unknown,
  files: readonly { readonly text: string }[],
): readonly LiteralSecret[] {
  const secrets: LiteralSecret[] = [];
  const known = new Set<object>();
  const hasTraces = files.some(({ text }) => mayHoldTokens(text));
  // One list for all, since a file has many values and few secrets.
  const path: (string | number)[] = [];
  const walk = (value: unknown, isData: boolean) => {
    if (typeof value === "string") {
      // One is enough: all of the text has to be replaced.
      const token = hasTraces ? findToken(value) : undefined;
      if (token) {
        const { what, text, start } = token;
        const range = { start, end: start + text.length };
        secrets.push({ path: [...path], text, why: `this is ${what}`, range });
      } else if (isData) { for (const secret of namedSecret(value, path)) secrets.push(secret); }
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
  if (isRawMap(root)) walk(root, false);
  return secrets;
}

/** Whether the value under a key of the workflow, a job or a step is data. */
function isDataKey(key: string, path: Path): boolean {
  const start = path[0] === "jobs" ? 2 : 0;
  switch (path.length - start) {
    case 0:
      return key === "defaults" || key === "vars";
    case 2:
      return isStepList(path[start]) && (key === "with" || key === "vars" || key === "iteration");
    default:
      return false;
  }
}

function isStepList(key: string | number | undefined): boolean {
  return key === "steps" || key === "finally";
}

function namedSecret(value: string, at: Path): readonly LiteralSecret[] {
  const name = String(at.at(-1));
  const isHeader = String(at.at(-2)).toLowerCase() === "headers" && isCredentialHeader(name);
  if (!isSecretValue(name, value, isHeader)) return [];
  const what = isHeader ? `the header "${name}"` : `"${name}"`;
  return [{ path: [...at], text: value, why: `${what} holds a secret as it is` }];
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

/** Names that are about a secret: `token_url`, `key_id`. More of them than are readable in reports. */
const ABOUT_A_SECRET =
  /(?:ur[il]|type|name|id|file|path|dir|field|count|length|size|limit|ttl|expir\w*|age|method|mode|scheme|header|prefix|policy|format|algorithm|env|endpoint|param|hint|label|store|status|regexp?|pattern)$/i;

/** Names that are used for nothing but secrets; "key", for example, has other uses. */
const STRONG_NAME = /token|secret|passw|credential|api[-_]?key|access[-_]?key|private[-_]?key/i;

/** Words of placeholders, and of values that are wrong on purpose. */
const STAND_IN =
  /(?:^|[^a-z])(?:wrong|invalid|incorrect|bad|fake|dummy|expired|default|unknown|missing|none|null|nil|empty|example|sample|placeholder|redacted|change[-_ ]?me|your|todo|not[-_ ]?a|no[-_ ]?such)(?:$|[^a-z])/i;

/** Whether a value is a placeholder, or wrong on purpose. */
export function isStandIn(value: string): boolean {
  return STAND_IN.test(value) || /^(.)\1*$/.test(value) || /^<.*>$|^\$|^\[.*\]$/.test(value) ||
    /^(?:https?:\/\/|\.{0,2}\/)/.test(value);
}

/** Whether a value is not a word of any language: letters and digits in one piece. */
function looksRandom(value: string): boolean {
  return /^[\w+/=.~-]{8,}$/.test(value) && /\d/.test(value) && /[a-z]/i.test(value) &&
    !/^[a-z]+[-_.]?\d{1,4}$/i.test(value) && !/^v?\d+(?:\.\d+)+/.test(value);
}
