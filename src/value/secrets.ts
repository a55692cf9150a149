/** A secret shorter than this is left alone: masking it would blot out ordinary text. */
export const SHORTEST_SECRET = 6;

const SECRET_WORDS: ReadonlySet<string> = new Set([
  "token",
  "secret",
  "password",
  "passwd",
  "pass",
  "key",
  "apikey",
  "credential",
  "credentials",
  "auth",
]);

/** What every one of them has in it: the names of most variables need no closer look. */
const SUSPICIOUS = /token|secret|pass|key|credential|auth/i;

const SECRET_HEADERS: ReadonlySet<string> = new Set([
  "authorization",
  "proxy-authorization",
  "cookie",
  "set-cookie",
]);

/** Whether the name of a variable says that its value is secret: one of its words does. */
export function isSecretName(name: string): boolean {
  return SUSPICIOUS.test(name) &&
    name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase().split(/[^a-z0-9]+/)
      .some((word) => SECRET_WORDS.has(word));
}

const SECRET_HEADER_LENGTHS = new Set(Array.from(SECRET_HEADERS, (name) => name.length));

/** Whether the values of a header are never shown. */
export function isSecretHeader(name: string): boolean {
  // It is asked of every header of every request, and few are as long as one of these.
  return SECRET_HEADER_LENGTHS.has(name.length) && SECRET_HEADERS.has(name.toLowerCase());
}
