import { Fault } from "../fault.ts";
import { define, defineNew } from "./function.ts";

const CHARACTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789";
const LONGEST = 1_000_000;

/** Functions whose value is another one at each call. */
export const CHANGING_FUNCTIONS = [
  define(
    "random_int(limit: number)",
    "A random integer from 0 to `limit` - 1.",
    (_, limit: number) => {
      const whole = Math.trunc(limit);
      if (whole <= 0 || whole > Number.MAX_SAFE_INTEGER || Number.isNaN(whole)) {
        throw new Fault("random_int() needs a limit above 0");
      }
      return randomBelow(whole);
    },
  ),
  define(
    "random_str(length: number)",
    "A string of `length` random letters and digits.",
    (run, length: number) => {
      const whole = Math.trunc(length);
      if (!(whole >= 1 && whole <= LONGEST)) {
        throw new Fault(`random_str() needs a length from 1 to ${LONGEST}`);
      }
      run.spend(whole >> 2);
      return randomText(whole);
    },
  ),
  defineNew("uuid()", "A random UUID (version 4).", () => crypto.randomUUID()),
  define(
    "unixtime()",
    "The current Unix time in seconds.",
    () => Math.floor(Date.now() / 1000),
  ),
] as const;

/** Every number is as likely as the next: draws from the uneven rest are thrown away. */
function randomBelow(limit: number): number {
  const range = 2n ** 64n;
  const fair = range - range % BigInt(limit);
  const draw = new BigUint64Array(1);
  do crypto.getRandomValues(draw); while (draw[0]! >= fair);
  return Number(draw[0]! % BigInt(limit));
}

function randomText(length: number): string {
  const fair = 256 - 256 % CHARACTERS.length;
  const bytes = new Uint8Array(Math.min(65_536, length * 2));
  let text = "";
  while (text.length < length) {
    crypto.getRandomValues(bytes);
    for (const byte of bytes) {
      if (byte < fair) text += CHARACTERS[byte % CHARACTERS.length];
      if (text.length === length) break;
    }
  }
  return text;
}
