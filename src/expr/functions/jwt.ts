import { formatDuration } from "../../base/value/duration.ts";
import { parseJson } from "../../base/value/parse_json.ts";
import { type Dict, isDict, readField, type Value } from "../../base/value/value.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { Fault, kindOf, quoted } from "../fault.ts";
import { crypto } from "./encoding.ts";
import { define, defineWithEvaluation, type FunctionBodies } from "./function.ts";
import {
  algorithmOf,
  ALGORITHMS,
  type JwtAlgorithm,
  type JwtKey,
  keyProblem,
  readKeys,
  usualAlgorithm,
} from "./jwt_keys.ts";

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
  /** The signed text. */
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
