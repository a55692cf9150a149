import type { ParsedKey } from "./ssh_library.ts";
import { loadSsh2 } from "./ssh_library.ts";

/** A key that the library can read and the runtime can sign with. */
export interface LoadedKey {
  readonly privateKey: string;
  readonly passphrase?: string;
}

/** Why a key cannot be used, for the caller to name it. */
export class KeyProblem extends Error {
  constructor(
    readonly kind: "needs passphrase" | "wrong passphrase" | "public" | "not supported" | "PuTTY",
    message: string,
  ) {
    super(message);
  }
}

/**
 * Reads a private key in the format of OpenSSH or PEM (PKCS #1, SEC 1 and PKCS #8), or an RSA key in
 * version 2 of that of PuTTY, encrypted or not. Throws `KeyProblem`.
 */
export async function loadKey(text: string, passphrase: string | undefined): Promise<LoadedKey> {
  if (/^\s*(?:ssh-|ecdsa-|sk-)|BEGIN (?:SSH2 |RSA )?PUBLIC KEY/.test(text)) {
    throw new KeyProblem("public", "it is a public key");
  }
  return /BEGIN OPENSSH PRIVATE KEY|^PuTTY-User-Key-File-/m.test(text)
    ? await loadOwnFormat(text, passphrase)
    : await loadPem(text, passphrase);
}

async function loadOwnFormat(file: string, passphrase: string | undefined): Promise<LoadedKey> {
  const { utils } = await loadSsh2();
  const parsed = utils.parseKey(file, passphrase);
  const key = Array.isArray(parsed) ? parsed[0]! : parsed;
  if (key instanceof Error) {
    if (file.startsWith("PuTTY-") && /^Unsupported/.test(key.message)) {
      throw new KeyProblem("PuTTY", "it is a key of PuTTY");
    }
    throw problemOf(key.message);
  }
  // This format keeps the number of an elliptic key as short as it is, and the runtime refuses one
  // that is not as long as its curve.
  const size = SIZES[key.type];
  if (size !== undefined) return padElliptic(key, size);
  return { privateKey: file, ...passphrase === undefined ? {} : { passphrase } };
}

function problemOf(message: string): KeyProblem {
  if (/no passphrase given/.test(message)) return new KeyProblem("needs passphrase", message);
  if (/integrity check failed|bad decrypt/i.test(message)) {
    return new KeyProblem("wrong passphrase", message);
  }
  return new KeyProblem("not supported", message);
}

async function loadPem(file: string, passphrase: string | undefined): Promise<LoadedKey> {
  const isEncrypted = /BEGIN ENCRYPTED PRIVATE KEY|Proc-Type: 4,ENCRYPTED/.test(file);
  if (isEncrypted && !passphrase) throw new KeyProblem("needs passphrase", "it is encrypted");
  const { createPrivateKey } = await import("node:crypto");
  let key: ReturnType<typeof createPrivateKey>;
  try {
    key = createPrivateKey({
      key: file,
      format: "pem",
      ...passphrase === undefined ? {} : { passphrase },
    });
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new KeyProblem(isEncrypted ? "wrong passphrase" : "not supported", message);
  }
  switch (key.asymmetricKeyType) {
    case "rsa":
      return { privateKey: String(key.export({ type: "pkcs1", format: "pem" })) };
    case "ec": {
      const { crv = "", x = "", y = "", d = "" } = key.export({ format: "jwk" });
      const curve = crv.replace("P-", "nistp");
      const point = join([Uint8Array.of(4), fromUrl(x), fromUrl(y)]);
      return wrap(join([text(`ecdsa-sha2-${curve}`), text(curve), field(point)]), fromUrl(d));
    }
    case "ed25519": {
      const { x = "", d = "" } = key.export({ format: "jwk" });
      const seed = join([fromUrl(d), fromUrl(x)]);
      return wrap(join([text("ssh-ed25519"), field(fromUrl(x))]), seed);
    }
    default:
      throw new KeyProblem("not supported", `its type is ${key.asymmetricKeyType}`);
  }
}

/** Bytes of the secret number, by the type of the key. */
const SIZES: Readonly<Record<string, number>> = {
  "ecdsa-sha2-nistp256": 32,
  "ecdsa-sha2-nistp384": 48,
  "ecdsa-sha2-nistp521": 66,
};

/** An elliptic key whose number has the length of its curve. */
function padElliptic(key: ParsedKey, size: number): LoadedKey {
  const pem = key.getPrivatePEM() ?? "";
  const der = Uint8Array.fromBase64(pem.replace(/-----[^-]+-----|\s/g, ""));
  // A sequence of the integer 1, the number, and the curve with the public key.
  const start = 2 + (der[1]! < 0x80 ? 0 : der[1]! & 0x7f) + 3;
  const length = der[start + 1]!;
  const found = der.subarray(start + 2, start + 2 + length);
  const padded = new Uint8Array(size);
  padded.set(found.subarray(Math.max(0, length - size)), Math.max(0, size - length));
  return wrap(key.getPublicSSH(), padded);
}

/** A key in the format of OpenSSH, the only one that the library reads for all types. */
function wrap(publicKey: Uint8Array, secret: Uint8Array): LoadedKey {
  // Two equal numbers, by which a reader knows that it has decrypted the key; no comment.
  const secrets = join([number(0), number(0), publicKey, field(secret), number(0)]);
  const padding = Uint8Array.from({ length: -secrets.length & 7 }, (_, index) => index + 1);
  const all = join([
    new TextEncoder().encode("openssh-key-v1\0"),
    ...[text("none"), text("none"), number(0), number(1)],
    ...[field(publicKey), field(join([secrets, padding]))],
  ]);
  const lines = all.toBase64().replace(/.{64}/g, "$&\n").trimEnd();
  const label = "OPENSSH PRIVATE KEY";
  return { privateKey: `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n` };
}

function fromUrl(base64: string): Uint8Array {
  return Uint8Array.fromBase64(base64, { alphabet: "base64url" });
}

function number(value: number): Uint8Array {
  return Uint8Array.of(value >>> 24, value >>> 16, value >>> 8, value);
}

function text(words: string): Uint8Array {
  return field(new TextEncoder().encode(words));
}

/** Bytes behind their length. */
function field(bytes: Uint8Array): Uint8Array {
  return join([number(bytes.length), bytes]);
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0));
  let end = 0;
  for (const part of parts) {
    all.set(part, end);
    end += part.length;
  }
  return all;
}
