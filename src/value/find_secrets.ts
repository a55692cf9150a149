import {
  canBeSecret,
  cookieSecrets,
  credentialsIn,
  decodePercents,
  dsnPasswords,
  isSecretField,
  isSecretHeader,
  isSecretName,
  passwordsIn,
  SHORTEST_ISSUED,
  SHORTEST_SECRET,
} from "./secrets.ts";

/** A secret in data, and how many characters it must have to be masked. */
export interface FoundSecret {
  readonly text: string;
  readonly shortest: number;
}

/**
 * The secrets among variables: the values of secret names, with all that lies in maps and lists of
 * such names, and the passwords of URLs and of other texts that name a database.
 */
export function* variableSecrets(
  values: Readonly<Record<string, unknown>>,
  shortest = SHORTEST_SECRET,
): Generator<FoundSecret> {
  // What an expression made may hold one part many times over.
  const seen = new Set<object>();
  const seenAsSecret = new Set<object>();
  function* walk(value: unknown, secretName: string | undefined): Generator<FoundSecret> {
    if (typeof value === "string" || typeof value === "number") {
      if (secretName !== undefined && canBeSecret(secretName, value)) {
        yield { text: String(value), shortest };
      } else if (typeof value === "string") {
        for (const text of dsnPasswords(value)) yield { text, shortest: SHORTEST_SECRET };
      }
    } else if (typeof value === "object" && value !== null) {
      const done = secretName === undefined ? seen : seenAsSecret;
      if (done.has(value)) return;
      done.add(value);
      for (const [name, field] of Object.entries(value)) {
        const isSecret = !Array.isArray(value) && isSecretName(name);
        yield* walk(field, secretName ?? (isSecret ? name : undefined));
      }
    }
  }
  yield* walk(values, undefined);
}

/**
 * The secrets in what an action was given, sent or received: the values of secret headers, of
 * fields with secret names in data and in texts that hold data, and of cookies.
 */
export function* exchangedSecrets(data: Readonly<Record<string, unknown>>): Generator<FoundSecret> {
  const seen = new Set<object>();
  function* walk(value: unknown, name: string, inHeaders: boolean): Generator<FoundSecret> {
    if (typeof value === "string" || typeof value === "number") {
      yield* secretsAt(name, value, inHeaders);
    } else if (typeof value === "object" && value !== null && !seen.has(value)) {
      seen.add(value);
      if (Array.isArray(value)) {
        for (const item of value) yield* walk(item, name, inHeaders);
      } else {
        for (const [key, field] of Object.entries(value)) {
          // `token: { value: … }`
          yield* walk(field, key === "value" ? name : key, inHeaders || isHeaders(key));
        }
      }
    }
  }
  for (const [name, field] of Object.entries(data)) {
    // The text of a body that is data says the same.
    if (name === "rawbody" && typeof data.body === "object") continue;
    yield* walk(field, name, isHeaders(name));
  }
}

function isHeaders(name: string): boolean {
  return name.toLowerCase() === "headers";
}

function* secretsAt(
  name: string,
  value: string | number,
  inHeaders: boolean,
): Generator<FoundSecret> {
  const text = String(value);
  const isSecret = inHeaders ? isSecretHeader(name) : isSecretField(name);
  if (!isSecret) {
    if (typeof value === "string") yield* secretsInText(value);
    return;
  }
  const isCookie = /cookies?$/i.test(name);
  if (!isCookie && !canBeSecret(name, value)) return;
  const texts = isCookie
    ? cookieSecrets(text)
    : /authorization$/i.test(name)
    ? credentialsIn(text)
    : [text];
  const shortest = isCookie || inHeaders ? SHORTEST_SECRET : SHORTEST_ISSUED;
  for (const text of texts) yield { text, shortest };
}

/** Fields in JSON, in queries and forms, and in the parts of a multipart body. */
const FIELDS = [
  /"([^"\\]{1,100})"\s*:\s*"((?:[^"\\]|\\.)*)"/g,
  /(?<![^?&;#\s])([\w.%[\]-]{1,100})=([^&\s#;"'<>]+)/g,
  /;\s*name="([^"]{1,100})"[^\r\n]*(?:\r?\n[^\r\n]+)*\r?\n\r?\n([^]*?)\r?\n--/g,
];

/** A cheaper look at whether there may be any in a text. */
const HAS_FIELDS = /[=:]/;

function* secretsInText(text: string): Generator<FoundSecret> {
  if (text.length < SHORTEST_ISSUED || !HAS_FIELDS.test(text)) return;
  for (const password of passwordsIn(text)) yield { text: password, shortest: SHORTEST_SECRET };
  for (const [kind, pattern] of FIELDS.entries()) {
    for (const [, written = "", value = ""] of text.matchAll(pattern)) {
      const name = decodePercents(written);
      if (!isSecretField(name) || !canBeSecret(name, value)) continue;
      for (const text of [value, decoded(kind, value)]) yield { text, shortest: SHORTEST_ISSUED };
    }
  }
}

function decoded(kind: number, value: string): string {
  if (kind === 2) return value;
  if (kind === 1) return decodePercents(value.replaceAll("+", " "));
  try {
    return JSON.parse(`"${value}"`);
  } catch {
    return value;
  }
}
