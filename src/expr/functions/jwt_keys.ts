import type { KeyObject } from "node:crypto";
import { tryParseJson } from "../../base/value/parse_json.ts";
import { type Dict, isDict, type Value } from "../../base/value/value.ts";
import { Fault } from "../fault.ts";
import { crypto } from "./encoding.ts";

/** A secret, or one half of a pair of keys. */
export interface JwtKey {
  readonly object: KeyObject;
  /** The `kid` and `alg` of a JWK. */
  readonly id?: string;
  readonly algorithm?: string;
}

/** The algorithm of a signature. */
export interface JwtAlgorithm {
  readonly name: string;
  readonly kind: "HS" | "RS" | "PS" | "ES" | "EdDSA";
  /** The digest; none for EdDSA. */
  readonly hash: string | null;
}

const ALGORITHM = /^(HS|RS|PS|ES)(256|384|512)$/;

/** The algorithms, for messages. */
export const ALGORITHMS = "HS256, RS256, PS256, ES256 (also with 384 and 512) and EdDSA";

/** The algorithm of that name; undefined if there is none, or it is "none". */
export function algorithmOf(name: string): JwtAlgorithm | undefined {
  if (name === "EdDSA" || name === "Ed25519") return { name, kind: "EdDSA", hash: null };
  const [, kind, bits] = ALGORITHM.exec(name) ?? [];
  return kind ? { name, kind: kind as "HS", hash: `sha${bits}` } : undefined;
}

/** The purpose of a key. */
type Purpose = "sign" | "verify";

/** Reads a key: a secret, PEM text, a JWK or a JWK set, also as JSON text. */
export function readKeys(key: Value, purpose: Purpose): readonly JwtKey[] {
  if (typeof key === "string") {
    if (key.includes("-----BEGIN ")) return [{ object: readPem(key, purpose) }];
    if (/^\s*\{/.test(key)) return readKeys(parse(key), purpose);
    if (key === "") throw new Fault("the key is empty");
    return [{ object: crypto.module.createSecretKey(key, "utf8") }];
  }
  if (!isDict(key)) throw new Fault("the key must be a secret, PEM text, a JWK or a JWK set");
  if (Array.isArray(key.keys)) {
    return (key.keys as readonly Value[]).flatMap((one) => {
      try {
        return isDict(one) && one.use !== "enc" ? [readJwk(one, purpose)] : [];
      } catch (error) {
        // A set may have keys of kinds that are not known here.
        if (error instanceof Fault) return [];
        throw error;
      }
    });
  }
  return [readJwk(key, purpose)];
}

function parse(text: string): Value {
  const key = tryParseJson(text);
  if (key === undefined) throw new Fault("the key begins like a JWK and is not valid JSON");
  return key;
}

function readPem(text: string, purpose: Purpose): KeyObject {
  const { createPrivateKey, createPublicKey, X509Certificate } = crypto.module;
  try {
    if (purpose === "sign") return createPrivateKey(text);
    if (text.includes("-----BEGIN CERTIFICATE-----")) {
      return new X509Certificate(text).publicKey;
    }
    return createPublicKey(text);
  } catch {
    const hint = purpose === "sign" && text.includes("PUBLIC KEY")
      ? "a public key verifies; signing needs the private one"
      : "give all lines from BEGIN to END, each on a line of its own";
    throw new Fault(`cannot read the key as PEM for a ${nameOf(purpose)} key`, hint);
  }
}

function nameOf(purpose: Purpose): string {
  return purpose === "sign" ? "private" : "public";
}

function readJwk(jwk: Dict, purpose: Purpose): JwtKey {
  const { createPrivateKey, createPublicKey, createSecretKey } = crypto.module;
  const named = {
    id: typeof jwk.kid === "string" ? jwk.kid : undefined,
    algorithm: typeof jwk.alg === "string" ? jwk.alg : undefined,
  };
  try {
    if (jwk.kty === "oct") {
      const bytes = Uint8Array.fromBase64(String(jwk.k), { alphabet: "base64url" });
      return { object: createSecretKey(bytes), ...named };
    }
    if (purpose === "sign" && jwk.d === undefined) {
      throw new Fault("the JWK has no private part", "a public key verifies only");
    }
    // Deno needs a plain object.
    const input = { key: { ...jwk } as Record<string, string>, format: "jwk" } as const;
    const object = purpose === "sign"
      ? createPrivateKey(input)
      : createPublicKey({ ...input, key: publicPart(input.key) });
    return { object, ...named };
  } catch (error) {
    if (error instanceof Fault) throw error;
    throw new Fault(`cannot read the JWK as a ${nameOf(purpose)} key`);
  }
}

function publicPart(jwk: Readonly<Record<string, string>>): Record<string, string> {
  const names = ["kty", "n", "e", "crv", "x", "y"];
  return Object.fromEntries(Object.entries(jwk).filter(([name]) => names.includes(name)));
}

const CURVES: Readonly<Record<string, string>> = {
  ES256: "prime256v1",
  ES384: "secp384r1",
  ES512: "secp521r1",
};

/** Why a key cannot be used with an algorithm; undefined if it can. */
export function keyProblem({ object }: JwtKey, { name, kind }: JwtAlgorithm): string | undefined {
  const type = object.type === "secret" ? "secret" : object.asymmetricKeyType ?? "unknown";
  const fits = {
    HS: type === "secret",
    RS: type === "rsa",
    PS: type === "rsa" || type === "rsa-pss",
    ES: type === "ec",
    EdDSA: type === "ed25519" || type === "ed448",
  }[kind];
  const wanted = {
    ...{ HS: "a secret", RS: "an RSA key", PS: "an RSA key", ES: "an EC key" },
    EdDSA: "an Ed25519 key",
  }[kind];
  if (!fits) {
    const actual = type === "secret"
      ? "a secret"
      : `${/^(rsa|ec|ed)/.test(type) ? "an" : "a"} ${type.toUpperCase()} key`;
    return `${name} needs ${wanted}, and this is ${actual}`;
  }
  const curve = object.asymmetricKeyDetails?.namedCurve;
  if (kind === "ES" && curve !== undefined && curve !== CURVES[name]) {
    return `${name} needs a key on the curve ${CURVES[name]}, and this one is on ${curve}`;
  }
  return undefined;
}

/** The algorithm that a key is made for, where the caller names none. */
export function usualAlgorithm({ object, algorithm }: JwtKey): string {
  if (algorithm !== undefined) return algorithm;
  if (object.type === "secret") return "HS256";
  if (object.asymmetricKeyType === "ec") {
    const curve = object.asymmetricKeyDetails?.namedCurve;
    return Object.keys(CURVES).find((name) => CURVES[name] === curve) ?? "ES256";
  }
  return object.asymmetricKeyType === "ed25519" ? "EdDSA" : "RS256";
}
