import { longWork } from "../../base/long_work.ts";
import type { Value } from "../../base/value/value.ts";
import type { CallExpression, Node } from "../parse/ast.ts";
import type { Scope } from "../expression.ts";
import { Fault } from "../fault.ts";
import { LIMITS } from "../limits.ts";

/** The last missing name or item: the likely cause of a later error about nil. */
export type Missing = MissingName | MissingItem;

/** A name that was read and is not there. */
export interface MissingName {
  /** The expression that is nil. */
  readonly node: Node;
  /** The name alone. */
  readonly at: Node;
  readonly key: string;
  readonly among: object;
}

/** A call of find() that found nothing, and a name that the last items lack. */
export interface MissingItem {
  readonly node: CallExpression;
  readonly within: Missing | undefined;
}

/** The steps that are charged for the length of a value. */
export function lengthOf(value: Value): number {
  if (typeof value === "string") return value.length >> 6;
  return Array.isArray(value) ? value.length : 0;
}

/** A name made by `let`. */
export interface Local {
  readonly name: string;
  readonly value: Value;
  readonly outer: Local | undefined;
}

/** Steps that take a part of a second. */
const LONG = 200_000;

export class Evaluation {
  /** The operation under way; an error is placed here. */
  at: Node | undefined;
  missing: Missing | undefined;
  locals: Local | undefined;
  /** `#`, `#index` and `#acc` of the innermost predicate. */
  item: Value = null;
  index = 0;
  accumulator: Value = null;
  #steps = 0;
  /** The steps until something must be done. */
  #limit: number = LONG;

  constructor(readonly scope: Scope) {}

  /** Counts the nodes that are evaluated, so that no loop runs without end. */
  step(count = 1): void {
    this.#steps += count;
    if (this.#steps <= this.#limit) return;
    if (this.#limit === LONG) longWork.begins?.();
    this.#limit = LIMITS.steps;
    if (this.#steps <= LIMITS.steps) return;
    throw new Fault(
      `evaluation limit exceeded (${LIMITS.steps} steps)`,
      "evaluate a smaller part of the data",
    );
  }
}
