import type { Value } from "../../value/value.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { Fault, kindOf } from "../fault.ts";
import { define } from "./function.ts";

/** Functions on numbers. */
export const NUMBER_FUNCTIONS = [
  define("abs(number: number)", "The absolute value.", (_, n: number) => Math.abs(n)),
  define("ceil(number: number)", "The number rounded up.", (_, n: number) => Math.ceil(n)),
  define("floor(number: number)", "The number rounded down.", (_, n: number) => Math.floor(n)),
  define(
    "round(number: number)",
    "The nearest integer; halves are rounded away from zero.",
    (_, n: number) => Math.sign(n) * Math.round(Math.abs(n)),
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
      const numbers = numbersIn(run, args);
      return numbers.reduce((sum, n) => sum + n, 0) / Math.max(1, numbers.length);
    },
  ),
  define(
    "median(...numbers: any)",
    "The median of the numbers, or of those in lists; 0 if there are none.",
    (run, ...args: Value[]) => {
      const numbers = numbersIn(run, args).sort((a, b) => a - b);
      const half = numbers.length >> 1;
      const upper = numbers[half] ?? 0;
      return numbers.length % 2 === 0 ? ((numbers[half - 1] ?? 0) + upper) / 2 : upper;
    },
  ),
] as const;

/** All numbers in the arguments, however deep in lists. */
function numbersIn(run: Evaluation, values: readonly Value[], found: number[] = []): number[] {
  for (const value of values) {
    run.spend(1);
    if (typeof value === "number") found.push(value);
    else if (Array.isArray(value)) numbersIn(run, value, found);
    else throw new Fault(`expected numbers, got ${kindOf(value)}`);
  }
  return found;
}

function pick(better: (a: number, b: number) => boolean) {
  return (best: Value, next: number): Value =>
    typeof best !== "number" || better(best, next) ? next : best;
}
