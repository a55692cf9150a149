import { Fault } from "../fault.ts";
import { define } from "./function.ts";
import { integer } from "../../base/value/value.ts";

/** Functions on the bits of whole numbers, which have 64 of them. */
export const BIT_FUNCTIONS = [
  define(
    "bitand(a: int64, b: int64)",
    "The bits set in both `a` and `b`.",
    (_, a: number, b: number) => signed(BigInt(a) & BigInt(b)),
  ),
  define(
    "bitor(a: int64, b: int64)",
    "The bits set in `a`, in `b` or in both.",
    (_, a: number, b: number) => signed(BigInt(a) | BigInt(b)),
  ),
  define(
    "bitxor(a: int64, b: int64)",
    "The bits set in either `a` or `b`, not in both.",
    (_, a: number, b: number) => signed(BigInt(a) ^ BigInt(b)),
  ),
  define(
    "bitnand(a: int64, b: int64)",
    "The bits set in `a` but not in `b`.",
    (_, a: number, b: number) => signed(BigInt(a) & ~BigInt(b)),
  ),
  define("bitnot(a: int64)", "All bits inverted.", (_, a: number) => signed(~BigInt(a))),
  define(
    "bitshl(a: int64, count: integer)",
    "The bits shifted to the left.",
    (_, a: number, count: number) => signed(BigInt(a) << distance(count)),
  ),
  define(
    "bitshr(a: int64, count: integer)",
    "The bits shifted to the right; the sign is kept.",
    (_, a: number, count: number) => signed(BigInt(a) >> distance(count)),
  ),
  define(
    "bitushr(a: int64, count: integer)",
    "The bits shifted to the right; zeros are filled in.",
    (_, a: number, count: number) => integer(BigInt.asUintN(64, BigInt(a)) >> distance(count)),
  ),
] as const;

function signed(bits: bigint): number | bigint {
  return integer(BigInt.asIntN(64, bits));
}

/** Beyond 64 places nothing is left, however far it goes. */
function distance(count: number): bigint {
  if (count < 0) throw new Fault("bits cannot be moved by less than 0");
  return BigInt(Math.min(count, 64));
}
