import { type Dict, isDict, type Value } from "../base/value/value.ts";

/** A secret shorter than this is not masked: masking it would hide ordinary text. */
export const SHORTEST_SECRET = 6;

/** The same for values in requests, responses and outputs, where short ones are rarely secrets. */
export const SHORTEST_ISSUED = 8;

/** Characters around a cut that show whether it goes through a secret. */
export const LONGEST_SECRET = 10_000;

/** Words that make any name containing them the name of a secret. */
const SECRET_WORDS: ReadonlySet<string> = new Set(
  ("token secret password passwd passphrase passcode pass pwd pw pat credential auth " +
    "authorization signature cookie jwt bearer apikey").split(" "),
);

/** The same where words are joined: GITHUBTOKEN, PRIVATEKEY. */
const SECRET_ENDING =
  /(?:token|secret|password|passwd|passphrase|credential|cookie|(?:api|private|access|secret|auth|ssh|signing|encryption)key)$/;

/** A key is secret in a header or a body after one of these. */
const SECRET_KEYS: ReadonlySet<string> = new Set(
  "api access private auth subscription functions secret signing encryption master account".split(
    " ",
  ),
);

/** A key is secret in a variable unless it comes after one of these. */
const OTHER_KEYS: ReadonlySet<string> = new Set(
  "public primary foreign idempotency cache sort partition socket websocket".split(" "),
);

/** Last words of names that are about a secret, and whose value is not one: `token_url`. */
const ABOUT: ReadonlySet<string> = new Set(
  ("url uri type name file path dir sock socket endpoint host port domain count length size limit " +
    "max min ttl age expiry expires expiration expired at in seconds days method mode scheme " +
    "header prefix suffix policy format algorithm alg hint label status used usage version enabled " +
    "required issuer audience scope scopes").split(" "),
);

/** Words that also name settings, whose values are secret only where they look like it. */
const WEAK_WORDS: ReadonlySet<string> = new Set(["auth", "tokens", "signature", "session"]);

/** Matches every secret name; rules out most others quickly. */
const SUSPICIOUS =
  /token|secret|pass|pw|pat|key|credential|auth|sig|cookie|jwt|bearer|hook|sess|sid/i;

/** A cheap look at whether there may be a secret name in a text. */
export function mayHoldSecretNames(text: string): boolean {
  return SUSPICIOUS.test(text);
}

/** Whether the name of a variable or var says that its value is secret. */
export const isSecretName = remembered((name) => {
  const words = wordsOf(name);
  if (words.includes("webhook") && /^(?:webhook|url|uri)$/.test(words.at(-1)!)) return true;
  // The directory that a shell is in, and the one before.
  if (name === "PWD" || name === "OLDPWD" || ABOUT.has(words.at(-1)!)) return false;
  return words.some((word, at) =>
    isSecretWord(word) || /^keys?$/.test(word) && !OTHER_KEYS.has(words[at - 1] ?? "")
  );
});

/** The same for a field of a request or response, or of a query. */
export const isSecretField = remembered((name) => {
  const words = wordsOf(name);
  if (/^(?:php|j)?sess(?:ion)?_?id$|^sid$|^sig$/.test(words.join("_"))) return true;
  return !ABOUT.has(words.at(-1)!) &&
    words.some((word, at) => isSecretWord(word) || isSecretKey(words, at));
});

/** Whether the values of a header are never shown. */
export const isSecretHeader = remembered((name) => {
  const words = wordsOf(name);
  // These are about other headers.
  if (words[0] === "access" && words[1] === "control") return false;
  return words.some((word, at) =>
    // Servers count tokens in headers.
    isSecretWord(word) && word !== "tokens" || word === "session" || isSecretKey(words, at)
  );
});

/** Whether a header is there for credentials alone, as its standard says. */
export function isCredentialHeader(name: string): boolean {
  return /^(?:proxy-)?authorization$|^(?:set-)?cookie$/i.test(name);
}

function isSecretWord(word: string): boolean {
  return SECRET_WORDS.has(word) || SECRET_WORDS.has(word.replace(/s$/, "")) ||
    SECRET_ENDING.test(word.replace(/s$/, ""));
}

function isSecretKey(words: readonly string[], at: number): boolean {
  return /^keys?$/.test(words[at]!) && SECRET_KEYS.has(words[at - 1] ?? "");
}

/** The words of a name, in lower case: `X-CSRFToken` has `x`, `csrf` and `token`. */
function wordsOf(name: string): string[] {
  return name.replaceAll("OAuth", "Oauth")
    .replace(/([a-z0-9])([A-Z])|([A-Z])(?=[A-Z][a-z])/g, "$1$3_$2")
    .toLowerCase().split(/[^a-z0-9]+/).filter((word) => word !== "");
}

/** Names come up again and again: with each response, and each item of a list in it. */
function remembered(decide: (name: string) => boolean): (name: string) => boolean {
  const known = new Map<string, boolean>();
  return (name) => {
    let is = known.get(name);
    if (is === undefined) {
      is = SUSPICIOUS.test(name) && decide(name);
      if (known.size >= 5000) known.clear();
      known.set(name, is);
    }
    return is;
  };
}

/** Whether the value of a secret name can be one: `auth` may be an address, a number or a word. */
export function canBeSecret(name: string, value: string | number | bigint): boolean {
  if (typeof value === "string" && OWN_WORD.test(value)) return false;
  const words = wordsOf(name);
  const weak = words.filter((word) => WEAK_WORDS.has(word));
  if (weak.length === 0 || words.some((word) => isSecretWord(word) && !weak.includes(word))) {
    return true;
  }
  return typeof value === "string" && value.length >= SHORTEST_SECRET &&
    !/^[a-z][a-z0-9+.-]*:\/\/|^[-+\d.,]+$/i.test(value) && !AUTH_WORD.test(value);
}

/** The same values without those of secret names; a name without a value has nothing to hide. */
export function withoutSecretNames(values: Dict, mask: string): Dict {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, withoutSecret(name, value, mask)]),
  );
}

function withoutSecret(name: string, value: Value, mask: string): Value {
  if (value === null || typeof value === "boolean") return value;
  if (isSecretName(name)) {
    return typeof value === "object" || canBeSecret(name, value) ? mask : value;
  }
  // The items of a list have its name.
  if (Array.isArray(value)) return value.map((item) => withoutSecret(name, item, mask));
  return isDict(value) ? withoutSecretNames(value, mask) : value;
}

/** Words of every report: a report without them could not be read. */
const OWN_WORD =
  /^(?:string|integer|number|boolean|object|array|passed|failed|skipped|request|response|status|password|secret)$/i;

/** Values of settings about authentication. */
const AUTH_WORD =
  /^(?:basic|bearer|digest|oauth ?[12]?|ntlm|negotiate|kerberos|password|apikey|api_key|token|enabled|disabled|required|optional|anonymous)$/i;

/**
 * The password of each URL in a text, between what comes before it and the last `@`; also where an
 * unencoded `/`, `#` or `?` in it makes the URL invalid, as what comes before that is no port.
 */
const URL_PASSWORD = /(\/\/[^/?#@:\s]*:)([^/?#\s]*|(?!\d*[/?#])[^/?#@{}\s]+[/?#][^@{}\s]*)@/g;

/** A token that is the name of a user: https://ghp_…@github.com. */
const URL_TOKEN = /:\/\/([^/?#@:\s]{20,})(?::[^/?#@\s]*)?@/g;

/** Passwords in other texts that say where a database is: `host=db password=x`, `me:x@tcp(db)`. */
const DSN_PASSWORD = /\b(?:password|passwd|pwd)\s*=\s*("[^"]*"|'[^']*'|[^;&\s]+)/gi;
const GO_PASSWORD = /^[^:@/\s]+:(.+)@(?:tcp|udp|unix)?\(/;

/** A text with URLs in it, without the passwords in them. */
export function withoutPassword(text: string): string {
  return text.replace(URL_PASSWORD, "$1***@");
}

/** The passwords of the URLs in a text, as written and decoded. */
export function passwordsIn(text: string): string[] {
  if (!text.includes("@")) return [];
  const passwords = [...text.matchAll(URL_PASSWORD)].map(([, , written = ""]) => written);
  const tokens = [...text.matchAll(URL_TOKEN)].map(([, written = ""]) => written);
  return [...passwords, ...tokens].flatMap((written) => [written, decodePercents(written)]);
}

/** The same, and those of texts that name a database in another way. */
export function dsnPasswords(text: string): string[] {
  const found = passwordsIn(text);
  if (!/[=@]/.test(text)) return found;
  for (const [, value = ""] of text.matchAll(DSN_PASSWORD)) {
    found.push(decodePercents(value.replace(/^(["'])(.*)\1$/, "$2")));
  }
  const go = GO_PASSWORD.exec(text)?.[1];
  return go === undefined ? found : [...found, go];
}

/** A text without its percent-encoding; one that is encoded badly as it is. */
export function decodePercents(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const ATTRIBUTE = /^(?:path|domain|expires|max-age|samesite|priority)$/i;

/** Each cookie of a `Cookie` or `Set-Cookie` header, also where several were joined. */
const COOKIE = /([^\s=;,]+)=([^;]*?)(?=\s*(?:;|$|,\s*[^\s=;,]+=))/g;

/** A `Cookie` or `Set-Cookie` header with all but the values of its cookies. */
export function withoutCookieValues(header: string, mask: string): string {
  return header.replace(
    COOKIE,
    (cookie, name: string, value: string) =>
      value === "" || ATTRIBUTE.test(name) ? cookie : `${name}=${mask}`,
  );
}

/** The values of cookies, without settings: `lang=german`. */
export function cookieSecrets(header: string): string[] {
  return [...header.matchAll(COOKIE)].flatMap(([, name = "", written = ""]) => {
    const value = written.replace(/^"(.*)"$/, "$1");
    if (ATTRIBUTE.test(name) || DELETED.test(value)) return [];
    const isNamed = /sess|sid|csrf|xsrf/i.test(name) || isSecretName(name);
    return isNamed || !/^(?:[a-z][a-z_-]{0,14}|[\d.]{1,7})$/i.test(value) ? [value] : [];
  });
}

const DELETED = /^(?:deleted?|expired|undefined|invalid|logged-?out)$/i;

/** The credentials after the scheme of an `Authorization` header, and the password in them. */
export function credentialsIn(header: string): string[] {
  // A scheme without credentials is a word of ordinary text: an empty token.
  if (/^(?:bearer|basic|digest|negotiate|token)\s*$/i.test(header)) return [];
  const [, scheme = "", credential] = /^(\S+)\s+(.+)$/.exec(header) ?? [];
  if (credential === undefined) return [header];
  if (scheme.toLowerCase() !== "basic") return [header, credential];
  try {
    const text = new TextDecoder().decode(Uint8Array.fromBase64(credential));
    const password = text.slice(text.indexOf(":") + 1);
    return [header, credential, password];
  } catch {
    return [header, credential];
  }
}

/** The names and values of `a=1,b=2`, with `%20` for a space: a variable of OpenTelemetry. */
export function pairsIn(text: string): [name: string, value: string][] {
  return text.split(",").flatMap((pair) => {
    const [, name, value = ""] = /^\s*([^=\s]+)\s*=(.*)$/s.exec(pair) ?? [];
    return name === undefined ? [] : [[name, decodePercents(value.trim())]];
  });
}
