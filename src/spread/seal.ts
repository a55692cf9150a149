import { RunnerError } from "../base/errors.ts";
import { parseJson } from "../base/value/parse_json.ts";
import type { Value } from "../base/value/value.ts";

/** The environment variable with the key that all pieces of a run share. */
export const KEY_VARIABLE = "RUNNER_KEY";

/** A shorter key is a mistake, such as a password. */
const SHORTEST_KEY = 32;

const NONCE_BYTES = 12;

/** Values by their JSON pointers. */
export type Leaves = Readonly<Record<string, Value>>;

/** Encrypts values that must not be read on the way from one piece of a run to the next. */
export interface Seal {
  /** `purpose` says whose values they are: they open for that purpose alone. */
  close(leaves: Leaves, purpose: string): Promise<string>;
  /** Throws RunnerError if the key is another one, or the text was changed; `file` is its name. */
  open(text: string, purpose: string, file: string): Promise<Leaves>;
}

/** AES-256-GCM with a key derived by HKDF-SHA-256. Throws RunnerError if the secret is too short. */
export async function makeSeal(secret: string): Promise<Seal> {
  const bytes = new TextEncoder().encode(secret);
  if (bytes.length < SHORTEST_KEY) {
    throw new RunnerError(
      `${KEY_VARIABLE} is too short: it has ${bytes.length} bytes, and at least ${SHORTEST_KEY} are needed`,
      "make one with: openssl rand -hex 32",
    );
  }
  const info = new TextEncoder().encode("runner sealed 1");
  const key = await crypto.subtle.deriveKey(
    { name: "HKDF", hash: "SHA-256", salt: new Uint8Array(), info },
    await crypto.subtle.importKey("raw", bytes, "HKDF", false, ["deriveKey"]),
    { name: "AES-GCM", length: 256 },
    false,
    ["encrypt", "decrypt"],
  );
  return {
    async close(leaves, purpose) {
      const nonce = crypto.getRandomValues(new Uint8Array(NONCE_BYTES));
      const text = new TextEncoder().encode(JSON.stringify(leaves));
      const sealed = await crypto.subtle.encrypt(algorithmOf(nonce, purpose), key, text);
      return new Uint8Array([...nonce, ...new Uint8Array(sealed)]).toBase64();
    },
    async open(text, purpose, file) {
      try {
        const sealed = Uint8Array.fromBase64(text);
        const opened = await crypto.subtle.decrypt(
          algorithmOf(sealed.slice(0, NONCE_BYTES), purpose),
          key,
          sealed.slice(NONCE_BYTES),
        );
        return parseJson(new TextDecoder().decode(opened)) as Leaves;
      } catch {
        throw new RunnerError(
          `the sealed values of '${file}' cannot be opened`,
          `${KEY_VARIABLE} is not the one that sealed them, or the file was changed`,
        );
      }
    },
  };
}

function algorithmOf(nonce: Uint8Array<ArrayBuffer>, purpose: string): AesGcmParams {
  return { name: "AES-GCM", iv: nonce, additionalData: new TextEncoder().encode(purpose) };
}
