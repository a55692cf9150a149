import { RunnerError } from "../source/errors.ts";
import type { Path } from "../source/source.ts";

/** An expression that cannot be parsed or evaluated; `start` and `end` are offsets in its text. */
export class ExpressionError extends RunnerError {
  /** The name of the class. */
  override readonly name = "ExpressionError";
  /** Throws nothing itself; `message` and `hint` are for users. */
  constructor(
    message: string,
    readonly start: number,
    readonly end: number,
    hint?: string,
    /** Where in the data around it the text stands, if it stands in some. */
    readonly path: Path = [],
  ) {
    super(message, hint);
  }

  /** The same error, in a text that stands there in its data. */
  within(path: Path): ExpressionError {
    return new ExpressionError(this.message, this.start, this.end, this.hint, path);
  }
}
