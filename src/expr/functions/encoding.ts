import type { Evaluation } from "../evaluate/evaluation.ts";
import { Fault } from "../fault.ts";
import { defineNew } from "./function.ts";

/** Functions that encode and decode strings, as UTF-8 where bytes are needed. */
export const ENCODING_FUNCTIONS = [
  defineNew(
    "encode_base64url(text: string)",
    "The string in base64url, without padding.",
    (run, text: string) => limited(run, bytesOf(text).toBase64(BASE64URL)),
  ),
  defineNew(
    "decode_base64url(text: string)",
    "The string that a base64url string encodes, with or without padding.",
    (_, text: string) => {
      const decode = () => Uint8Array.fromBase64(text.replace(/=+$/, ""), BASE64URL);
      const hint = /[+/]/.test(text) ? "it is base64: use decode_base64(…)" : undefined;
      return textOf("decode_base64url", "base64url", decode, hint);
    },
  ),
  defineNew(
    "encode_url(text: string)",
    "The string encoded as one component of a URL.",
    (run, text: string) => limited(run, encodeURIComponent(text.toWellFormed())),
  ),
  defineNew(
    "decode_url(text: string)",
    "The string that a component of a URL encodes.",
    (_, text: string) => {
      try {
        return decodeURIComponent(text);
      } catch {
        throw unreadable("decode_url", "URL-encoded UTF-8", "a % itself is written %25");
      }
    },
  ),
  defineNew(
    "encode_hex(text: string)",
    "The bytes of the string in hexadecimal.",
    (run, text: string) => limited(run, bytesOf(text).toHex()),
  ),
  defineNew(
    "decode_hex(text: string)",
    "The string whose bytes are given in hexadecimal.",
    (_, text: string) => {
      const hint = text.length % 2 === 1 ? "a byte is two digits" : undefined;
      return textOf("decode_hex", "hexadecimal", () => Uint8Array.fromHex(text), hint);
    },
  ),
  defineNew(
    "crc32(text: string)",
    "The CRC-32 checksum of the string, as eight hexadecimal digits.",
    (run, text: string) => {
      run.spend(text.length >> 3);
      return checksum(bytesOf(text)).toString(16).padStart(8, "0");
    },
  ),
] as const;

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

function limited(run: Evaluation, text: string): string {
  run.reserveText(text.length);
  run.spend(text.length >> 6);
  return text;
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
