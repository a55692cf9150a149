import { isNumber, type Value } from "../../base/value/value.ts";
import { calculate } from "../evaluate/operations.ts";
import { Fault, kindOf } from "../fault.ts";
import { define, type FunctionBodies } from "./function.ts";

type AnyNumber = number | bigint;

export const BODIES: FunctionBodies = {
  abs: define("The absolute value.", (n) => n <= 0 ? calculate("-", 0, n) : n),
  ceil: define("The number rounded up.", rounded(Math.ceil)),
  floor: define("The number rounded down.", rounded(Math.floor)),
  round: define(
    "The nearest integer; halves are rounded away from zero.",
    rounded((n) => Math.sign(n) * Math.round(Math.abs(n))),
  ),
  max: define(
    "The largest of the numbers, or of those in lists; nil if there are none.",
    (...args: Value[]) => best(args, (a, b) => b > a),
  ),
  min: define(
    "The smallest of the numbers, or of those in lists; nil if there are none.",
    (...args: Value[]) => best(args, (a, b) => b < a),
  ),
  mean: define(
    "The average of the numbers, or of those in lists; 0 if there are none.",
    (...args: Value[]) => {
      const numbers = floatsIn(args);
      return numbers.reduce((sum, n) => sum + n, 0) / Math.max(1, numbers.length);
    },
  ),
  median: define(
    "The median of the numbers, or of those in lists; 0 if there are none.",
    (...args: Value[]) => {
      const numbers = floatsIn(args).sort((a, b) => a - b);
      const half = numbers.length >> 1;
      const upper = numbers[half] ?? 0;
      return numbers.length % 2 === 0 ? ((numbers[half - 1] ?? 0) + upper) / 2 : upper;
    },
  ),
};

/** An integer beyond ±2^53 is whole already. */
function rounded(round: (n: number) => number) {
  return (n: AnyNumber) => typeof n === "bigint" ? n : round(n);
}

/** All numbers in the arguments, however deep in lists. */
function numbersIn(values: readonly Value[]): AnyNumber[] {
  return values.flatMap((value) => {
    if (Array.isArray(value)) return numbersIn(value);
    if (!isNumber(value)) throw new Fault(`expected numbers, got ${kindOf(value)}`);
    return value;
  });
}

/** The same as floats. Throws a Fault for integers beyond ±2^53. */
function floatsIn(values: readonly Value[]): number[] {
  return numbersIn(values).map((value) => calculate("/", value, 1) as number);
}

function best(values: readonly Value[], isBetter: (a: AnyNumber, b: AnyNumber) => boolean): Value {
  return numbersIn(values).reduce<AnyNumber | null>(
    (known, next) => known === null || isBetter(known, next) ? next : known,
    null,
  );
}
