import { ExpressionError } from "../base/errors.ts";
import type { Path } from "../base/source.ts";
import type { Evaluation } from "./evaluate/evaluation.ts";
import type { Fault } from "./fault.ts";
import type { CallExpression, Node } from "./parse/ast.ts";

/** A token that could not be parsed, and the text around it. */
export interface Misfit {
  readonly kind: "misfit";
  readonly input: string;
  readonly start: number;
  readonly end: number;
  /** Whether the expression is between `{{` and `}}`. */
  readonly inTemplate?: boolean;
  /** Whether an expression could have ended before the token. */
  readonly isBehind?: boolean;
  /** A number with letters after it. */
  readonly isNumber?: true;
}

/** What an error is about: `explained()` finds the words and the hint for it. */
export type Mistake =
  | Misfit
  /** A call that is wrong for any values. */
  | { readonly kind: "call"; readonly node: CallExpression }
  /** A fault at a node, which a missing name or item may have caused. */
  | EvaluatedMistake
  /** A part of a text is nil. */
  | {
    readonly kind: "nil";
    readonly part: Node;
    readonly run: Evaluation;
    readonly source: string;
    readonly meant: string;
  };

export interface EvaluatedMistake {
  readonly kind: "evaluated";
  readonly fault: Fault;
  readonly node: Node;
  readonly run: Evaluation;
  readonly source: string;
  /** Whether it is nil because of the missing name or item. */
  readonly isOfMissing: boolean;
}

/** An error as it is thrown: where it is shown, `explained()` says more, and is loaded there. */
export class PlainError extends ExpressionError {
  constructor(
    message: string,
    { start, end }: Pick<Node, "start" | "end">,
    hint: string | undefined,
    readonly mistake: Mistake,
    details: ExpressionError["details"] = {},
  ) {
    super(message, start, end, hint, details);
  }

  override within(path: Path): ExpressionError {
    const { message, hint, mistake, details } = this;
    return new PlainError(message, this, hint, mistake, { ...details, path });
  }
}
