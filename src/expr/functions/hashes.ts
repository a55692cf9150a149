import type { Evaluation } from "../evaluate/evaluation.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { Fault, quoted } from "../fault.ts";
import { defineNew, type ValueFunction } from "./function.ts";

type Crypto = Pick<typeof import("node:crypto"), "createHash" | "createHmac">;

let crypto: Crypto | undefined;

/** Loads what computes hashes, which few workflows need. */
async function load(): Promise<void> {
  crypto ??= await import("node:crypto");
}

const ENCODINGS = ["hex", "base64", "base64url"] as const;

/** Functions that compute hashes of strings, as UTF-8. */
export const HASH_FUNCTIONS: readonly ValueFunction[] = [
  ...(["md5", "sha1", "sha256", "sha512"] as const).map((name) =>
    defineNew(
      `${name}(text: string, encoding?: string)`,
      `The ${
        name.toUpperCase().replace("SHA", "SHA-")
      } hash of the string, as "hex" (the default), "base64" or "base64url".`,
      (run, text: string, encoding = "hex") => {
        const output = encodingOf(name, encoding);
        return ready(run, text).createHash(name).update(text).digest(output);
      },
      load,
    )
  ),
  defineNew(
    "hmac_sha256(key: string, text: string, encoding?: string)",
    'The HMAC with SHA-256 of the string, as "hex" (the default), "base64" or "base64url".',
    (run, key: string, text: string, encoding = "hex") => {
      const output = encodingOf("hmac_sha256", encoding);
      return ready(run, text).createHmac("sha256", key).update(text).digest(output);
    },
    load,
  ),
];

function ready(run: Evaluation, text: string): Crypto {
  if (!crypto) throw new Error("node:crypto is not loaded");
  run.spend(text.length >> 4);
  return crypto;
}

function encodingOf(name: string, encoding: string): (typeof ENCODINGS)[number] {
  const known = ENCODINGS.find((each) => each === encoding);
  if (known) return known;
  throw new Fault(
    `unknown encoding ${quoted(encoding)} of ${name}()`,
    didYouMean(encoding, ENCODINGS) ?? `use ${ENCODINGS.join(", ")}`,
  );
}
