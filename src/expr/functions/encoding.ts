import { didYouMean } from "../../base/text/suggest.ts";
import type { Dict, Value } from "../../base/value/value.ts";
import { Fault, quoted } from "../fault.ts";
import { define, type FunctionBodies, Library } from "./function.ts";

export const crypto = new Library(() => import("node:crypto"));

/** Functions that encode, decode and hash strings, as UTF-8 where bytes are needed. */
export const BODIES: FunctionBodies = {
  encode_base64url: define(
    "The string in base64url, without padding.",
    (text: string) => bytesOf(text).toBase64(BASE64URL),
  ),
  decode_base64url: define(
    "The string that a base64url string encodes, with or without padding.",
    (text: string) => {
      const decode = () => Uint8Array.fromBase64(text.replace(/=+$/, ""), BASE64URL);
      const hint = /[+/]/.test(text) ? "it is base64: use decode_base64(…)" : undefined;
      return textOf("decode_base64url", "base64url", decode, hint);
    },
  ),
  encode_url: define(
    "The string encoded as one component of a URL.",
    (text: string) => encodeURIComponent(text.toWellFormed()),
  ),
  decode_url: define(
    "The string that a component of a URL encodes.",
    (text: string) => {
      try {
        return decodeURIComponent(text);
      } catch {
        throw unreadable("decode_url", "URL-encoded UTF-8", "a % itself is written %25");
      }
    },
  ),
  encode_hex: define(
    "The bytes of the string in hexadecimal.",
    (text: string) => bytesOf(text).toHex(),
  ),
  decode_hex: define(
    "The string whose bytes are given in hexadecimal.",
    (text: string) => {
      const hint = text.length % 2 === 1 ? "a byte is two digits" : undefined;
      return textOf("decode_hex", "hexadecimal", () => Uint8Array.fromHex(text), hint);
    },
  ),
  crc32: define(
    "The CRC-32 checksum of the string, as eight hexadecimal digits.",
    (text: string) => checksum(bytesOf(text)).toString(16).padStart(8, "0"),
  ),
  md5: hash("md5"),
  sha1: hash("sha1"),
  sha256: hash("sha256"),
  sha512: hash("sha512"),
  hmac_sha1: hmac("sha1"),
  hmac_sha256: hmac("sha256"),
  hmac_sha512: hmac("sha512"),
  totp: define(
    'The current one-time password (RFC 6238) for a secret in base32. Options are digits (6), period in seconds (30) and algorithm ("sha1").',
    (secret: string, options: Dict = {}) => totp(secret, options, Date.now()),
    { load: crypto.load },
  ),
};

const ENCODINGS = ["hex", "base64", "base64url"] as const;

function hash(name: "md5" | "sha1" | "sha256" | "sha512") {
  return define(
    `The ${titleOf(name)} hash of the string, as "hex" (the default), "base64" or "base64url".`,
    (text: string, encoding = "hex") =>
      crypto.module.createHash(name).update(text).digest(encodingOf(name, encoding)),
    { load: crypto.load },
  );
}

function hmac(name: "sha1" | "sha256" | "sha512") {
  return define(
    `The HMAC with ${
      titleOf(name)
    } of the string, as "hex" (the default), "base64" or "base64url".`,
    (key: string, text: string, encoding = "hex") =>
      crypto.module.createHmac(name, key).update(text).digest(
        encodingOf(`hmac_${name}`, encoding),
      ),
    { load: crypto.load },
  );
}

function titleOf(hash: string): string {
  return hash.toUpperCase().replace("SHA", "SHA-");
}

/** The one-time password of a moment, by RFC 6238. */
export function totp(secret: string, options: Dict, milliseconds: number): string {
  const { digits = 6, period = 30, algorithm = "sha1", ...others } = options;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw new Fault(
      `unknown option ${quoted(unknown)} of totp()`,
      "they are digits, period and algorithm",
    );
  }
  if (!isWithin(digits, 1, 10)) throw new Fault("digits of totp() must be an integer from 1 to 10");
  if (!isWithin(period, 1, 86_400)) {
    throw new Fault("period of totp() must be an integer from 1 to 86400, in seconds");
  }
  const hash = ["sha1", "sha256", "sha512"].find((name) => name === algorithm);
  if (hash === undefined) {
    throw new Fault('algorithm of totp() must be "sha1", "sha256" or "sha512"');
  }
  const counter = new DataView(new ArrayBuffer(8));
  counter.setBigUint64(0, BigInt(Math.floor(milliseconds / 1000 / period)));
  const mac = crypto.module.createHmac(hash, readBase32(secret)).update(counter).digest();
  const offset = mac.at(-1)! & 15;
  const code = (mac.readUInt32BE(offset) & 0x7fffffff) % 10 ** digits;
  return String(code).padStart(digits, "0");
}

function isWithin(value: Value, least: number, greatest: number): value is number {
  return Number.isInteger(value) && Number(value) >= least && Number(value) <= greatest;
}

/** The bytes of base32 as RFC 4648 writes it, in groups, in small letters or without padding too. */
function readBase32(text: string): Uint8Array {
  const letters = text.replace(/[\s-]|=+$/g, "").toUpperCase();
  if (!/^[A-Z2-7]+$/.test(letters)) throw unreadable("totp", "base32", "it has A to Z and 2 to 7");
  const bits = Array.from(
    letters,
    (letter) => "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567".indexOf(letter).toString(2).padStart(5, "0"),
  ).join("");
  return Uint8Array.from(bits.match(/.{8}/g) ?? [], (byte) => parseInt(byte, 2));
}

const BASE64URL = { alphabet: "base64url", omitPadding: true } as const;

/** A byte order mark is a character like any other. */
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function bytesOf(text: string) {
  return new TextEncoder().encode(text);
}

function textOf(name: string, what: string, decode: () => Uint8Array, hint?: string): string {
  let bytes: Uint8Array;
  try {
    bytes = decode();
  } catch {
    throw unreadable(name, what, hint);
  }
  try {
    return UTF8.decode(bytes);
  } catch {
    throw new Fault(`${name}() decodes to bytes that are not UTF-8`);
  }
}

function unreadable(name: string, what: string, hint?: string): Fault {
  return new Fault(`${name}() cannot read this string as ${what}`, hint);
}

let table: Uint32Array | undefined;

/** CRC-32 as in gzip and PNG: the reversed polynomial, byte by byte. */
function checksum(bytes: Uint8Array): number {
  table ??= Uint32Array.from({ length: 256 }, (_, byte) => {
    let rest = byte;
    for (let bit = 0; bit < 8; bit++) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
    return rest;
  });
  let sum = 0xffffffff;
  for (const byte of bytes) sum = (sum >>> 8) ^ table[(sum ^ byte) & 0xff]!;
  return (sum ^ 0xffffffff) >>> 0;
}

function encodingOf(name: string, encoding: string): (typeof ENCODINGS)[number] {
  const known = ENCODINGS.find((each) => each === encoding);
  if (known) return known;
  throw new Fault(
    `unknown encoding ${quoted(encoding)} of ${name}()`,
    didYouMean(encoding, ENCODINGS) ?? `use ${ENCODINGS.join(", ")}`,
  );
}
