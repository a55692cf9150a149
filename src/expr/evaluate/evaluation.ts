import type { Value } from "../../base/value/value.ts";
import type { CallExpression, Node } from "../parse/ast.ts";
import type { Scope } from "../expression.ts";
import { Fault } from "../fault.ts";
import { LIMITS } from "../limits.ts";

/** What was looked for and is not there: the likely cause when nil does harm later. */
export type Missing = MissingName | MissingItem;

/** A name that was read and is not there. */
export interface MissingName {
  /** The whole of what gave nil. */
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

/** A name made by `let`. */
export interface Local {
  readonly name: string;
  readonly value: Value;
  readonly outer: Local | undefined;
}

/** One evaluation under way: what it sees, where it is and how much it has done. */
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

  constructor(readonly scope: Scope) {}

  /** Counts the nodes that are evaluated, so that no loop runs without end. */
  step(count = 1): void {
    this.#steps += count;
    if (this.#steps <= LIMITS.steps) return;
    throw new Fault(
      `evaluation limit exceeded (${LIMITS.steps} steps)`,
      "evaluate a smaller part of the data",
    );
  }
}
