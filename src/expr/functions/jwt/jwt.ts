import { formatDuration } from "../../../base/value/duration.ts";
import { parseJson } from "../../../base/value/parse_json.ts";
import { isDict, type Value } from "../../../base/value/value.ts";
import type { Evaluation } from "../../evaluate/evaluation.ts";
import { Fault, kindOf, quoted } from "../../fault.ts";
import { copyData } from "../copy_data.ts";
import {
  algorithmOf,
  ALGORITHMS,
  type Crypto,
  type JwtAlgorithm,
  type JwtKey,
  keyProblem,
  readKeys,
  usualAlgorithm,
} from "./jwt_keys.ts";

let crypto: Crypto | undefined;

/** Loads what computes signatures. */
export async function load(): Promise<void> {
  crypto ??= await import("node:crypto");
}

/** The header and the claims of a token that nothing proves. */
export function read(run: Evaluation, token: string): Value {
  const { header, claims } = readToken(run, "jwt", token);
  return { header, claims };
}

interface Token {
  readonly header: Readonly<Record<string, Value>>;
  readonly claims: Readonly<Record<string, Value>>;
  /** The signed text. */
  readonly signed: string;
  readonly signature: Uint8Array;
}

function readToken(run: Evaluation, name: string, given: string): Token {
  const token = given.replace(/^Bearer\s+/i, "").trim();
  run.spend(token.length >> 2);
  const parts = token.split(".");
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
    return copyData(run, data) as Readonly<Record<string, Value>>;
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
export function verify(run: Evaluation, given: string, key: Value): Value {
  const library = loaded();
  const { header, claims, signed, signature } = readToken(run, "jwt_verify", given);
  const algorithm = typeof header.alg === "string" ? algorithmOf(header.alg) : undefined;
  if (!algorithm) {
    const isNone = typeof header.alg === "string" && header.alg.toLowerCase() === "none";
    throw new Fault(
      isNone
        ? "this token is not signed: its algorithm is none"
        : `unknown algorithm${
          typeof header.alg === "string" ? ` ${quoted(header.alg)}` : ""
        } of this token`,
      `the algorithms are ${ALGORITHMS}`,
    );
  }
  // A signature with a long key takes a millisecond.
  run.spend(10_000);
  const keys = candidates(readKeys(library, key, "verify"), header.kid, algorithm);
  if (!keys.some((one) => isRight(library, algorithm, one, signed, signature))) {
    throw new Fault(
      "the signature of this token is wrong: it was signed with another key, or changed",
    );
  }
  checkTimes(claims);
  return claims;
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

function isRight(
  library: Crypto,
  { kind, hash }: JwtAlgorithm,
  { object }: JwtKey,
  signed: string,
  signature: Uint8Array,
): boolean {
  const data = new TextEncoder().encode(signed);
  try {
    if (kind === "HS") {
      const right = library.createHmac(hash!, object).update(data).digest();
      return right.length === signature.length && library.timingSafeEqual(right, signature);
    }
    return library.verify(hash, data, { key: object, ...formOf(library, kind) }, signature);
  } catch {
    return false;
  }
}

function formOf(library: Crypto, kind: JwtAlgorithm["kind"]) {
  if (kind === "ES") return { dsaEncoding: "ieee-p1363" } as const;
  if (kind !== "PS") return {};
  const { RSA_PKCS1_PSS_PADDING, RSA_PSS_SALTLEN_DIGEST } = library.constants;
  return { padding: RSA_PKCS1_PSS_PADDING, saltLength: RSA_PSS_SALTLEN_DIGEST };
}

function checkTimes({ exp, nbf }: Readonly<Record<string, Value>>): void {
  const now = Date.now() / 1000;
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
export function sign(run: Evaluation, claims: Value, key: Value, options: Value = {}): Value {
  const library = loaded();
  const { algorithm: wanted, header = {}, ...others } = options as Readonly<Record<string, Value>>;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new Fault(
      `unknown option ${quoted(unknown)} of jwt_sign()`,
      "the options are algorithm and header",
    );
  }
  if (!isDict(header)) throw new Fault(`the header of jwt_sign() must be a map`);
  if (typeof key === "string") run.scope.addSecret?.(key);
  const [first] = readKeys(library, key, "sign");
  if (!first) throw new Fault("the JWK set has no key for signatures");
  const name = wanted === undefined || wanted === null ? usualAlgorithm(first) : wanted;
  const algorithm = typeof name === "string" ? algorithmOf(name) : undefined;
  if (!algorithm) {
    throw new Fault(
      `unknown algorithm${typeof name === "string" ? ` ${quoted(name)}` : ""} of jwt_sign()`,
      `the algorithms are ${ALGORITHMS}`,
    );
  }
  const problem = keyProblem(first, algorithm);
  if (problem !== undefined) throw new Fault(problem);
  run.spend(10_000);
  const fields = {
    alg: algorithm.name,
    typ: "JWT",
    ...first.id === undefined ? {} : { kid: first.id },
    ...header,
  };
  const signed = `${encoded(fields)}.${encoded(claims)}`;
  run.spend(signed.length >> 2);
  const token = `${signed}.${signature(library, algorithm, first, signed)}`;
  run.reserveText(token.length);
  run.scope.addSecret?.(token);
  return token;
}

function signature(
  library: Crypto,
  { kind, hash }: JwtAlgorithm,
  { object }: JwtKey,
  signed: string,
): string {
  const data = new TextEncoder().encode(signed);
  const bytes = kind === "HS"
    ? library.createHmac(hash!, object).update(data).digest()
    : library.sign(hash, data, { key: object, ...formOf(library, kind) });
  return written(new Uint8Array(bytes));
}

function encoded(data: unknown): string {
  return written(new TextEncoder().encode(JSON.stringify(data)));
}

function written(bytes: Uint8Array): string {
  return bytes.toBase64({ alphabet: "base64url", omitPadding: true });
}

function loaded(): Crypto {
  if (!crypto) throw new Error("node:crypto is not loaded");
  return crypto;
}
