import { writeTimestamp } from "../../base/value/timestamp.ts";
import { type RandomSource, UNSEEDED } from "../draws.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { Fault } from "../fault.ts";
import { LIMITS } from "../limits.ts";
import { define, defineWithEvaluation, type FunctionBodies } from "./function.ts";

const CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";

/** Functions whose value changes from call to call. */
export const BODIES: FunctionBodies = {
  random_int: defineWithEvaluation(
    "A random integer from 0 to `limit` - 1.",
    (run, limit: number) => {
      const whole = Math.trunc(Number(limit));
      if (whole <= 0 || whole > Number.MAX_SAFE_INTEGER || Number.isNaN(whole)) {
        throw new Fault("random_int() needs a limit above 0");
      }
      return randomBelow(whole, sourceOf(run));
    },
  ),
  random_str: defineWithEvaluation(
    "A string of `length` random letters and digits.",
    (run, length: number) => {
      const whole = Math.trunc(Number(length));
      if (!(whole >= 1 && whole <= LIMITS.text)) {
        throw new Fault(`random_str() needs a length from 1 to ${LIMITS.text}`);
      }
      return randomText(whole, sourceOf(run));
    },
  ),
  uuid: defineWithEvaluation(
    "A random UUID (version 4).",
    (run) => randomUuid(sourceOf(run)),
  ),
  unixtime: define(
    "The current Unix time in seconds.",
    () => Math.floor(Date.now() / 1000),
  ),
  now: define(
    "The current time as text: 2026-01-02T03:04:05.678Z.",
    () => writeTimestamp(Date.now())!,
  ),
};

function sourceOf({ scope }: Evaluation): RandomSource {
  return scope.random ?? UNSEEDED;
}

/** Every number is as likely as the next: draws from the uneven rest are thrown away. */
function randomBelow(limit: number, source: RandomSource): number {
  const range = 2n ** 64n;
  const fair = range - range % BigInt(limit);
  let draw: bigint;
  do draw = BigInt(source.next()) << 32n | BigInt(source.next()); while (draw >= fair);
  return Number(draw % BigInt(limit));
}

function randomText(length: number, source: RandomSource): string {
  const fair = 256 - 256 % CHARACTERS.length;
  let text = "";
  while (text.length < length) {
    for (let bytes = source.next(), left = 4; left > 0 && text.length < length; left--) {
      const byte = bytes & 255;
      if (byte < fair) text += CHARACTERS[byte % CHARACTERS.length];
      bytes >>>= 8;
    }
  }
  return text;
}

function randomUuid(source: RandomSource): string {
  const parts = Array.from({ length: 4 }, () => source.next());
  // The version, 4, and the variant of RFC 9562.
  parts[1] = (parts[1]! & 0xffff0fff | 0x4000) >>> 0;
  parts[2] = (parts[2]! & 0x3fffffff | 0x80000000) >>> 0;
  const hex = parts.map((part) => part.toString(16).padStart(8, "0")).join("");
  return hex.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
