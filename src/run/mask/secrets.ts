import { Masker } from "../../value/masker.ts";
import { isSecretHeader, isSecretName } from "../../value/secrets.ts";
import { type Dict, isDict } from "../../value/value.ts";

/** Knows what has a secret name in any of these. */
export function makeMasker(given: readonly Readonly<Record<string, unknown>>[]): Masker {
  const masker = new Masker();
  for (const values of given) addSecretsOf(values, masker);
  return masker;
}

/** Makes the values of secret names secret, and all that lies in maps and lists of such names. */
export function addSecretsOf(values: Readonly<Record<string, unknown>>, masker: Masker): void {
  // What an expression made may hold one part many times over.
  const seen = new Set<object>();
  const seenAsSecret = new Set<object>();
  const add = (value: unknown, isSecret: boolean) => {
    if (typeof value !== "object" || value === null) {
      const isText = typeof value === "string" || typeof value === "number";
      if (isSecret && isText) masker.add(String(value));
      return;
    }
    const done = isSecret ? seenAsSecret : seen;
    if (done.has(value)) return;
    done.add(value);
    if (Array.isArray(value)) {
      for (const item of value) add(item, isSecret);
    } else {
      for (const [name, field] of Object.entries(value)) add(field, isSecret || isSecretName(name));
    }
  };
  add(values, false);
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
      Object.entries(headers).map(([name, value]) => [name, isSecretHeader(name) ? mask : value]),
    );
  }
  if (isDict(outputs)) hidden.outputs = withoutSecretNames(outputs, mask);
  if (Array.isArray(cookies) && cookies.length > 0) hidden.cookies = cookies.map(() => mask);
  return Object.keys(hidden).length === 0 ? message : { ...message, ...hidden };
}

/** The same values without those of secret names; a name without a value has nothing to hide. */
export function withoutSecretNames(values: Dict, mask: string): Dict {
  return Object.fromEntries(
    Object.entries(values).map(([name, value]) => [
      name,
      value === null
        ? null
        : isSecretName(name)
        ? mask
        : isDict(value)
        ? withoutSecretNames(value, mask)
        : value,
    ]),
  );
}
