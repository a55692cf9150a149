import { addSecretValue } from "../secrets/add_secrets.ts";
import { RunnerError } from "../base/errors.ts";
import type { Masker } from "../secrets/masker.ts";
import { isSecretName } from "../secrets/secrets.ts";
import type { Dict } from "../base/value/value.ts";
import type { FileFields } from "./read_json_file.ts";
import { KEY_VARIABLE, type Leaves, type Seal } from "./seal.ts";
import { joinValues, keysOf, splitValues } from "./split_values.ts";

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
  readonly more: {
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
    const list = names.slice(0, 10).join(", ") + (names.length > 10 ? ", …" : "");
    throw new RunnerError(
      `secret ${what} cannot be written to a file as plain text: ${list}`,
      `set ${KEY_VARIABLE} to the same value for all pieces of the run, such as the output of ` +
        "openssl rand -hex 32: secrets are sealed with it",
    );
  }
  return {
    values: open,
    more: {
      ...Object.keys(special).length === 0 ? {} : { special },
      ...pointers.length === 0 ? {} : { sealed: await seal!.close(secret, purpose) },
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
