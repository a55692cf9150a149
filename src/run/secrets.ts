import type { Masker } from "../value/masker.ts";
import { isDict } from "../value/value.ts";

const SECRET_WORDS = new Set([
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

/** Headers whose values are never shown. */
const SECRET_HEADERS = new Set(["authorization", "proxy-authorization", "cookie", "set-cookie"]);

/** Whether the name of a variable says that its value is secret: one of its words does. */
export function isSecretName(name: string): boolean {
  return name.replace(/([a-z0-9])([A-Z])/g, "$1_$2").toLowerCase().split(/[^a-z0-9]+/)
    .some((word) => SECRET_WORDS.has(word));
}

/** Makes the values of secret names secret, in nested maps too. */
export function addSecretsOf(values: Readonly<Record<string, unknown>>, masker: Masker): void {
  for (const [name, value] of Object.entries(values)) {
    if (isDict(value)) addSecretsOf(value, masker);
    else if (isSecretName(name) && (typeof value === "string" || typeof value === "number")) {
      masker.add(String(value));
    }
  }
}

/** A request or response with the values of its secret headers taken out, however short. */
export function withoutSecretHeaders(
  message: Readonly<Record<string, unknown>>,
  mask: string,
): Record<string, unknown> {
  const out: Record<string, unknown> = { ...message };
  if (isDict(message.headers)) {
    const headers: Record<string, unknown> = { ...message.headers };
    for (const name of Object.keys(headers)) {
      if (SECRET_HEADERS.has(name.toLowerCase())) headers[name] = mask;
    }
    out.headers = headers;
  }
  if (Array.isArray(message.cookies)) out.cookies = message.cookies.map(() => mask);
  return out;
}
