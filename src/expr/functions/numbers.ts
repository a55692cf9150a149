import { isNumber, type Value } from "../../base/value/value.ts";
import { calculate } from "../evaluate/operations.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { Fault, kindOf } from "../fault.ts";
import { define } from "./function.ts";

/** Functions on numbers. */
export const NUMBER_FUNCTIONS = [
  define("abs(number: number)", "The absolute value.", (_, n) => n <= 0 ? calculate("-", 0, n) : n),
  define("ceil(number: number)", "The number rounded up.", rounded(Math.ceil)),
  define("floor(number: number)", "The number rounded down.", rounded(Math.floor)),
  define(
    "round(number: number)",
    "The nearest integer; halves are rounded away from zero.",
    rounded((n) => Math.sign(n) * Math.round(Math.abs(n))),
  ),
  define(
    "max(...numbers: any)",
    "The largest of the numbers, or of those in lists; nil if there are none.",
    (run, ...args: Value[]) => numbersIn(run, args).reduce<Value>(pick((a, b) => b > a), null),
  ),
  define(
    "min(...numbers: any)",
    "The smallest of the numbers, or of those in lists; nil if there are none.",
    (run, ...args: Value[]) => numbersIn(run, args).reduce<Value>(pick((a, b) => b < a), null),
  ),
  define(
    "mean(...numbers: any)",
    "The average of the numbers, or of those in lists; 0 if there are none.",
    (run, ...args: Value[]) => {
      const numbers = floatsIn(run, args);
      return numbers.reduce((sum, n) => sum + n, 0) / Math.max(1, numbers.length);
    },
  ),
  define(
    "median(...numbers: any)",
    "The median of the numbers, or of those in lists; 0 if there are none.",
    (run, ...args: Value[]) => {
      const numbers = floatsIn(run, args).sort((a, b) => a - b);
      const half = numbers.length >> 1;
      const upper = numbers[half] ?? 0;
      return numbers.length % 2 === 0 ? ((numbers[half - 1] ?? 0) + upper) / 2 : upper;
    },
  ),
] as const;

/** Rounds what is not an integer beyond ±2^53, which is whole. */
function rounded(round: (n: number) => number) {
  return (_: Evaluation, n: number | bigint) => typeof n === "bigint" ? n : round(n);
}

/** All numbers in the arguments, however deep in lists. */
function numbersIn(run: Evaluation, values: readonly Value[]): (number | bigint)[] {
  return values.flatMap((value) => {
    run.spend(1);
    if (Array.isArray(value)) return numbersIn(run, value);
    if (!isNumber(value)) throw new Fault(`expected numbers, got ${kindOf(value)}`);
    return value;
  });
}

/** The same for what is computed with floats, which an integer beyond ±2^53 may not be. */
function floatsIn(run: Evaluation, values: readonly Value[]): number[] {
  return numbersIn(run, values).map((value) => calculate("/", value, 1) as number);
}

function pick(better: (a: number | bigint, b: number | bigint) => boolean) {
  return (best: Value, next: number | bigint): Value =>
    !isNumber(best) || better(best, next) ? next : best;
}
