import { formatDuration } from "../../base/value/duration.ts";
import { parseJson, tryParseJson } from "../../base/value/parse_json.ts";
import { type Dict, isDict, readField, type Value } from "../../base/value/value.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { Fault, kindOf, quoted } from "../fault.ts";
import { crypto } from "./encoding.ts";
import { define, defineWithEvaluation, type FunctionBodies } from "./function.ts";
import type { KeyObject } from "node:crypto";

/** Functions about JSON Web Tokens. */
export const BODIES: FunctionBodies = {
  jwt: define(
    "The header and the claims of a JSON Web Token as a map, without verification.",
    (token: string) => {
      const { header, claims } = readToken("jwt", token);
      return { header, claims };
    },
  ),
  jwt_verify: define(
    "The claims of a JSON Web Token whose signature, exp and nbf are valid; otherwise it fails with the reason. The key is a secret, PEM text, a JWK or a JWK set.",
    verify,
    { load: crypto.load },
  ),
  jwt_sign: defineWithEvaluation(
    "A signed JSON Web Token. Options are algorithm (by default that of the key: HS256 of a secret) and header, a map of additional header fields.",
    sign,
    { load: crypto.load },
  ),
};

interface Token {
  readonly header: Dict;
  readonly claims: Dict;
  readonly signed: string;
  readonly signature: Uint8Array;
}

function readToken(name: string, text: string): Token {
  const parts = text.replace(/^Bearer\s+/i, "").trim().split(".");
  if (parts.length !== 3) {
    const hint = parts.length === 5 ? "a token of five parts is encrypted" : undefined;
    throw new Fault(`${name}() needs a token of three parts with dots between them`, hint);
  }
  const [header, claims] = parts.slice(0, 2).map((part, index) => {
    const what = index === 0 ? "header" : "claims";
    let data: unknown;
    try {
      data = parseJson(new TextDecoder("utf-8", { fatal: true }).decode(bytesOf(part)));
    } catch {
      throw new Fault(`${name}() cannot read the ${what} of this token as JSON`);
    }
    if (!isDict(data)) throw new Fault(`the ${what} of this token must be a map`);
    return data;
  });
  let signature: Uint8Array;
  try {
    signature = bytesOf(parts[2]!);
  } catch {
    throw new Fault(`${name}() cannot read the signature of this token`);
  }
  return { header: header!, claims: claims!, signed: `${parts[0]}.${parts[1]}`, signature };
}

function bytesOf(part: string): Uint8Array {
  return Uint8Array.fromBase64(part, { alphabet: "base64url" });
}

/** The claims of a token that is proved right. */
function verify(token: string, key: Value): Value {
  const { header, claims, signed, signature } = readToken("jwt_verify", token);
  const name = readField(header, "alg");
  if (typeof name === "string" && name.toLowerCase() === "none") {
    throw new Fault(
      "this token is not signed: its algorithm is none",
      `the algorithms are ${ALGORITHMS}`,
    );
  }
  const algorithm = algorithmNamed(name, "this token");
  const keys = candidates(readKeys(key, "verify"), readField(header, "kid"), algorithm);
  if (!keys.some((one) => isSignedBy(one, algorithm, signed, signature))) {
    throw new Fault(
      "the signature of this token is wrong: it was signed with another key, or changed",
    );
  }
  checkTimes(claims);
  return claims;
}

function algorithmNamed(name: Value | undefined, owner: string): JwtAlgorithm {
  const algorithm = typeof name === "string" ? algorithmOf(name) : undefined;
  if (algorithm) return algorithm;
  throw new Fault(
    `unknown algorithm${typeof name === "string" ? ` ${quoted(name)}` : ""} of ${owner}`,
    `the algorithms are ${ALGORITHMS}`,
  );
}

/** The keys that may have signed a token. */
function candidates(
  keys: readonly JwtKey[],
  id: Value | undefined,
  algorithm: JwtAlgorithm,
): readonly JwtKey[] {
  if (keys.length === 0) throw new Fault("the JWK set has no key for signatures");
  const isNamed = typeof id === "string" && keys.length > 1;
  const named = isNamed ? keys.filter((key) => key.id === id) : keys;
  if (named.length === 0) throw new Fault("the JWK set has no key with the kid of this token");
  const right = named.filter((key) =>
    keyProblem(key, algorithm) === undefined &&
    (key.algorithm === undefined || key.algorithm === algorithm.name)
  );
  if (right.length > 0) return right;
  const [first] = named;
  throw new Fault(
    keyProblem(first!, algorithm) ??
      `this token is signed with ${algorithm.name}, and the key is for ${first!.algorithm}`,
  );
}

function isSignedBy(
  { object }: JwtKey,
  { kind, hash }: JwtAlgorithm,
  text: string,
  signature: Uint8Array,
): boolean {
  const { createHmac, timingSafeEqual, verify } = crypto.module;
  const data = new TextEncoder().encode(text);
  try {
    if (kind === "HS") {
      const wanted = createHmac(hash!, object).update(data).digest();
      return wanted.length === signature.length && timingSafeEqual(wanted, signature);
    }
    return verify(hash, data, { key: object, ...signingOptions(kind) }, signature);
  } catch {
    return false;
  }
}

function signingOptions(kind: JwtAlgorithm["kind"]) {
  if (kind === "ES") return { dsaEncoding: "ieee-p1363" } as const;
  if (kind !== "PS") return {};
  const { RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_DIGEST } = crypto.module.constants;
  return { padding: RSA_PKCS1_PSS_PADDING, saltLength: RSA_PSS_SALTLEN_DIGEST };
}

function checkTimes(claims: Dict): void {
  const now = Date.now() / 1000;
  const [exp, nbf] = [readField(claims, "exp"), readField(claims, "nbf")];
  for (const [name, time] of [["exp", exp], ["nbf", nbf]] as const) {
    if (time !== undefined && typeof time !== "number") {
      throw new Fault(`the claim ${name} of this token must be a Unix time, got ${kindOf(time)}`);
    }
  }
  if (typeof exp === "number" && exp <= now) {
    throw new Fault(`this token expired ${span(now - exp)} ago (exp)`);
  }
  if (typeof nbf === "number" && nbf > now) {
    throw new Fault(`this token is not valid before ${span(nbf - now)} from now (nbf)`);
  }
}

function span(seconds: number): string {
  const days = Math.floor(seconds / 86_400);
  if (days > 1) return `${days} days`;
  return formatDuration(Math.max(1, Math.round(seconds)) * 1000);
}

/** Makes a token. */
function sign(run: Evaluation, claims: Dict, key: Value, options: Dict = {}): Value {
  const { algorithm: wanted, header = {}, ...others } = options;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new Fault(
      `unknown option ${quoted(unknown)} of jwt_sign()`,
      "the options are algorithm and header",
    );
  }
  if (!isDict(header)) throw new Fault(`the header of jwt_sign() must be a map`);
  if (typeof key === "string") run.scope.addSecret?.(key);
  const [first] = readKeys(key, "sign");
  if (!first) throw new Fault("the JWK set has no key for signatures");
  const algorithm = algorithmNamed(wanted ?? usualAlgorithm(first), "jwt_sign()");
  const problem = keyProblem(first, algorithm);
  if (problem !== undefined) throw new Fault(problem);
  const fields = { alg: algorithm.name, typ: "JWT", kid: first.id, ...header };
  const signed = `${encodeJson(fields)}.${encodeJson(claims)}`;
  const token = `${signed}.${encode(signatureOf(signed, first, algorithm))}`;
  run.scope.addSecret?.(token);
  return token;
}

function signatureOf(text: string, { object }: JwtKey, { kind, hash }: JwtAlgorithm): Uint8Array {
  const { createHmac, sign } = crypto.module;
  const data = new TextEncoder().encode(text);
  if (kind === "HS") return createHmac(hash!, object).update(data).digest();
  return sign(hash, data, { key: object, ...signingOptions(kind) });
}

function encodeJson(data: unknown): string {
  return encode(new TextEncoder().encode(JSON.stringify(data)));
}

function encode(bytes: Uint8Array): string {
  return new Uint8Array(bytes).toBase64({ alphabet: "base64url", omitPadding: true });
}

/** A secret, or one half of a pair of keys. */
interface JwtKey {
  readonly object: KeyObject;
  /** The `kid` and `alg` of a JWK. */
  readonly id?: string;
  readonly algorithm?: string;
}

interface JwtAlgorithm {
  readonly name: string;
  readonly kind: "HS" | "RS" | "PS" | "ES" | "EdDSA";
  /** The digest; none for EdDSA. */
  readonly hash: string | null;
}

const ALGORITHM = /^(HS|RS|PS|ES)(256|384|512)$/;

/** The algorithms, for messages. */
const ALGORITHMS = "HS256, RS256, PS256, ES256 (also with 384 and 512) and EdDSA";

/** The algorithm of that name; undefined if there is none, or it is "none". */
function algorithmOf(name: string): JwtAlgorithm | undefined {
  if (name === "EdDSA" || name === "Ed25519") return { name, kind: "EdDSA", hash: null };
  const [, kind, bits] = ALGORITHM.exec(name) ?? [];
  return kind ? { name, kind: kind as "HS", hash: `sha${bits}` } : undefined;
}

type Purpose = "sign" | "verify";

/** Reads a key: a secret, PEM text, a JWK or a JWK set, also as JSON text. */
function readKeys(key: Value, purpose: Purpose): readonly JwtKey[] {
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
function keyProblem({ object }: JwtKey, { name, kind }: JwtAlgorithm): string | undefined {
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
function usualAlgorithm({ object, algorithm }: JwtKey): string {
  if (algorithm !== undefined) return algorithm;
  if (object.type === "secret") return "HS256";
  if (object.asymmetricKeyType === "ec") {
    const curve = object.asymmetricKeyDetails?.namedCurve;
    return Object.keys(CURVES).find((name) => CURVES[name] === curve) ?? "ES256";
  }
  return object.asymmetricKeyType === "ed25519" ? "EdDSA" : "RS256";
}
