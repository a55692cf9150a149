import { findExchangedSecrets, findVariableSecrets } from "../../value/find_secrets.ts";
import { Masker } from "../../value/masker.ts";
import {
  canBeSecret,
  isSecretHeader,
  isSecretName,
  SHORTEST_ISSUED,
  withoutCookieValues,
} from "../../value/secrets.ts";
import { type Dict, isDict, type Value } from "../../value/value.ts";

/** Knows what has a secret name in any of these. */
export function makeMasker(given: readonly Readonly<Record<string, unknown>>[]): Masker {
  const masker = new Masker();
  for (const values of given) addSecretsOf(values, masker);
  return masker;
}

/** Adds the secrets among variables: see `findVariableSecrets`. */
export function addSecretsOf(values: Readonly<Record<string, unknown>>, masker: Masker): void {
  findVariableSecrets(values, (text, shortest) => masker.add(text, shortest));
}

/** Adds the secrets among outputs of a step. */
export function addOutputSecrets(values: Dict, masker: Masker): void {
  findVariableSecrets(
    values,
    (text, shortest) => masker.add(text, shortest),
    SHORTEST_ISSUED,
  );
}

/** Adds the secrets in what actions were given, sent or received: see `findExchangedSecrets`. */
export function exchangedSecretsAdder(masker: Masker): (data: Dict) => void {
  // Data without templates is the same in every round.
  const seen = new WeakSet<Dict>();
  return (data) => {
    if (seen.has(data)) return;
    seen.add(data);
    findExchangedSecrets(data, (text, shortest) => masker.add(text, shortest));
  };
}

/** Who says that something is secret may mean a PIN. */
const SHORTEST_SAID = 4;

/** Adds a value that an expression says is secret, with all that lies in it. */
export function addSecretValue(value: Value, masker: Masker): void {
  const seen = new Set<object>();
  const add = (value: Value) => {
    if (typeof value === "string" || typeof value === "number") {
      masker.add(String(value), SHORTEST_SAID);
    } else if (typeof value === "object" && value !== null && !seen.has(value)) {
      seen.add(value);
      for (const part of Object.values(value)) add(part);
    }
  };
  add(value);
}

/**
 * A request or response with the values of its secret headers taken out, however short, and those
 * of outputs with secret names, which an embedded job answers with. Most have none and are as they
 * were.
 */
export function withoutSecretHeaders(
  message: Readonly<Record<string, unknown>>,
  mask: string,
): Readonly<Record<string, unknown>> {
  const { headers, outputs, cookies } = message;
  const hidden: Record<string, unknown> = {};
  if (isDict(headers) && Object.keys(headers).some(isSecretHeader)) {
    hidden.headers = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        isSecretHeader(name) ? withoutHeaderValue(name, String(value), mask) : value,
      ]),
    );
  }
  if (isDict(outputs)) hidden.outputs = withoutSecretNames(outputs, mask);
  if (Array.isArray(cookies) && cookies.length > 0) {
    hidden.cookies = cookies.map((cookie) => isDict(cookie) ? withoutCookie(cookie, mask) : cookie);
  }
  return Object.keys(hidden).length === 0 ? message : { ...message, ...hidden };
}

/** A cookie of a response without its value. */
function withoutCookie(cookie: Dict, mask: string): Dict {
  const { value, raw } = cookie;
  if (typeof raw !== "string") return cookie;
  return { ...cookie, value: value === "" ? "" : mask, raw: withoutCookieValues(raw, mask) };
}

/** What may be shown of a secret header: of cookies all but the values. */
export function withoutHeaderValue(name: string, value: string, mask: string): string {
  return /cookie$/i.test(name) ? withoutCookieValues(value, mask) : mask;
}

/** The same values without those of secret names; a name without a value has nothing to hide. */
export function withoutSecretNames(values: Dict, mask: string): Dict {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [name, withoutSecret(name, value, mask)]),
  );
}

function withoutSecret(name: string, value: Value, mask: string): Value {
  if (value === null || typeof value === "boolean") return value;
  if (!isSecretName(name)) return isDict(value) ? withoutSecretNames(value, mask) : value;
  return typeof value === "object" || canBeSecret(name, value) ? mask : value;
}
