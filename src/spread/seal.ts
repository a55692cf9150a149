import { RunnerError } from "../base/errors.ts";
import { firstNames } from "../base/text/suggest.ts";
import { parseJson } from "../base/value/parse_json.ts";
import { type Dict, isDict, type Value } from "../base/value/value.ts";
import { addSecretValue } from "../secrets/find_secrets.ts";
import type { Masker } from "../secrets/masker.ts";
import { isSecretName } from "../secrets/secrets.ts";
import type { FileFields } from "./read_json_file.ts";

/** The environment variable with the key that all pieces of a run share. */
export const KEY_VARIABLE = "RUNNER_KEY";

/** A shorter key is a mistake, such as a password. */
const SHORTEST_KEY = 32;

const NONCE_BYTES = 12;

/** Values by their JSON pointers. */
type Leaves = Readonly<Record<string, Value>>;

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

/** The options for writing values. */
interface SealOptions {
  readonly secrets: Masker;
  readonly seal: Seal | undefined;
  /** Whose values they are. */
  readonly purpose: string;
  /** The description of the values for messages. */
  readonly what: "vars" | "outputs";
  /** The name of a value for messages, where that is not its path. */
  readonly nameOf?: (path: string) => string;
}

/** Values as written in a file, and the fields beside them. */
interface WrittenValues {
  readonly values: Dict;
  readonly extra: {
    readonly special?: Readonly<Record<string, string>>;
    readonly sealed?: string;
  };
}

/** Makes values ready to be written. Throws RunnerError where some are secret and no key is set. */
export async function sealValues(
  values: Dict,
  { secrets, seal, purpose, what, nameOf = (path) => path }: SealOptions,
): Promise<WrittenValues> {
  const { open, special, secret } = splitValues(values, secrets);
  const pointers = Object.keys(secret);
  if (pointers.length > 0 && !seal) {
    const names = pointers.map((pointer) => nameOf(keysOf(pointer).join(".")));
    throw new RunnerError(
      `secret ${what} cannot be written to a file as plain text: ${firstNames(names)}`,
      `set ${KEY_VARIABLE} to the same value for all pieces of the run, such as the output of ` +
        "openssl rand -hex 32: secrets are sealed with it",
    );
  }
  return {
    values: open,
    extra: {
      special: Object.keys(special).length === 0 ? undefined : special,
      sealed: pointers.length === 0 ? undefined : await seal!.close(secret, purpose),
    },
  };
}

/** With what sealed values are opened. */
export interface Opening {
  readonly seal: Seal | undefined;
  /** Learns the secrets among them that no name gives away. */
  readonly secrets: Masker;
}

/** The values that a file has. Throws RunnerError if they are sealed with another key. */
export async function openValues(
  open: Dict,
  fields: FileFields,
  { seal, secrets }: Opening,
  { file, purpose }: { readonly file: string; readonly purpose: string },
): Promise<Dict> {
  const sealed = fields.optionalText("sealed");
  if (sealed !== undefined && !seal) {
    throw new RunnerError(
      `'${file}' has sealed values, and ${KEY_VARIABLE} is not set`,
      "set it to the value that it had where the file was made",
    );
  }
  const secret: Leaves = sealed === undefined ? {} : await seal!.open(sealed, purpose, file);
  for (const [pointer, value] of Object.entries(secret)) {
    if (!keysOf(pointer).some(isSecretName)) addSecretValue(value, secrets);
  }
  const special = (fields.optionalMap("special") ?? {}) as Readonly<Record<string, string>>;
  return joinValues({ open, special, secret });
}

/** Values as a file has them. What JSON cannot hold and what is secret is null in place. */
interface SplitValues {
  readonly open: Dict;
  /** Numbers that JSON does not have, as text, by their JSON pointers. */
  readonly special: Readonly<Record<string, string>>;
  readonly secret: Leaves;
}

/**
 * Takes out what may not be written as it is: leaves with a secret name anywhere on their path, and
 * texts that contain a secret.
 */
function splitValues(values: Dict, masker: Masker): SplitValues {
  const special: Record<string, string> = {};
  const secret: Record<string, Value> = {};
  const split = (value: Value, pointer: string, isHidden: boolean): Value => {
    if (Array.isArray(value)) {
      return value.map((item, at) => split(item, `${pointer}/${at}`, isHidden));
    }
    if (isDict(value)) {
      return dictOf(
        Object.entries(value).map(([key, part]) => {
          const path = `${pointer}/${key.replaceAll("~", "~0").replaceAll("/", "~1")}`;
          return [key, split(part, path, isHidden || isSecretName(key))];
        }),
      );
    }
    const isSecret = isHidden && value !== null && value !== "" ||
      typeof value === "string" && masker.mask(value) !== value;
    const isSpecial = typeof value === "number" && !Number.isFinite(value);
    if (isSecret) secret[pointer] = isSpecial ? String(value) : value;
    if (isSpecial) special[pointer] = isSecret ? "secret" : String(value);
    return isSecret || isSpecial ? null : value;
  };
  return { open: split(values, "", false) as Dict, special, secret };
}

/** Puts values together again. */
function joinValues({ open, special, secret }: SplitValues): Dict {
  const whole = structuredClone(open);
  for (const [pointer, text] of Object.entries(special)) {
    if (text !== "secret") put(whole, pointer, Number(text));
  }
  for (const [pointer, value] of Object.entries(secret)) {
    put(whole, pointer, special[pointer] === "secret" ? Number(value) : value);
  }
  return whole;
}

/** The keys that a JSON pointer consists of. */
function keysOf(pointer: string): readonly string[] {
  return pointer.split("/").slice(1)
    .map((key) => key.replaceAll("~1", "/").replaceAll("~0", "~"));
}

function put(target: unknown, pointer: string, value: Value): void {
  const keys = [...keysOf(pointer)];
  const last = keys.pop()!;
  let at = target;
  for (const key of keys) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, key)) return;
    at = (at as Record<string, unknown>)[key];
  }
  if (typeof at !== "object" || at === null) return;
  Object.defineProperty(at, last, { value, enumerable: true, writable: true, configurable: true });
}

/** A map in which `__proto__` is a key like others. */
function dictOf(entries: readonly (readonly [string, Value])[]): Dict {
  const dict: Record<string, Value> = Object.create(null);
  for (const [key, value] of entries) dict[key] = value;
  return dict;
}
