import { Fault } from "../fault.ts";
import { define } from "./function.ts";

/** Functions on the bits of whole numbers, which have 64 of them. */
export const BIT_FUNCTIONS = [
  define(
    "bitand(a: integer, b: integer)",
    "The bits that both have.",
    (_, a: number, b: number) => signed(BigInt(a) & BigInt(b)),
  ),
  define(
    "bitor(a: integer, b: integer)",
    "The bits that either has.",
    (_, a: number, b: number) => signed(BigInt(a) | BigInt(b)),
  ),
  define(
    "bitxor(a: integer, b: integer)",
    "The bits that one of them has.",
    (_, a: number, b: number) => signed(BigInt(a) ^ BigInt(b)),
  ),
  define(
    "bitnand(a: integer, b: integer)",
    "The bits of a that b has not.",
    (_, a: number, b: number) => signed(BigInt(a) & ~BigInt(b)),
  ),
  define("bitnot(a: integer)", "The bits that it has not.", (_, a: number) => signed(~BigInt(a))),
  define(
    "bitshl(a: integer, count: integer)",
    "The bits moved up.",
    (_, a: number, count: number) => signed(BigInt(a) << distance(count)),
  ),
  define(
    "bitshr(a: integer, count: integer)",
    "The bits moved down, the sign kept.",
    (_, a: number, count: number) => signed(BigInt(a) >> distance(count)),
  ),
  define(
    "bitushr(a: integer, count: integer)",
    "The bits moved down, zeros following.",
    (_, a: number, count: number) => Number(BigInt.asUintN(64, BigInt(a)) >> distance(count)),
  ),
] as const;

function signed(bits: bigint): number {
  return Number(BigInt.asIntN(64, bits));
}

/** Beyond 64 places nothing is left, however far it goes. */
function distance(count: number): bigint {
  if (count < 0) throw new Fault("bits cannot be moved by less than 0");
  return BigInt(Math.min(count, 64));
}
