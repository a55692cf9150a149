import type { Diagnostic } from "./diagnostic.ts";
import type { Path } from "./source.ts";
import type { Value } from "./value/value.ts";

/** Something that the user can act on. Any other error is a bug of ours. */
export class RunnerError extends Error {
  /** A suggestion for a fix. */
  readonly hint: string | undefined;
  /** `message` and `hint` are for users. */
  constructor(message: string, hint?: string) {
    super(message);
    this.hint = hint;
  }
}

/** The command line or the environment asks for something that does not exist. */
export class UsageError extends RunnerError {
  /** The name of the class. */
  override readonly name = "UsageError";
}

/** A workflow that cannot be loaded; every problem that was found is in `diagnostics`. */
export class LoadError extends RunnerError {
  /** The name of the class. */
  override readonly name = "LoadError";
  /** `diagnostics` say what is wrong and where. */
  constructor(message: string, readonly diagnostics: readonly Diagnostic[] = [], hint?: string) {
    super(message, hint);
  }
}

/** An action that could not be carried out: a refused connection, a missing program, a timeout. */
export class StepError extends RunnerError {
  /** The name of the class. */
  override readonly name = "StepError";
  /** `details` go to the report. */
  constructor(
    message: string,
    hint?: string,
    /** Details of the attempt, for the report. */
    readonly details: {
      /** The parameter that is wrong. */
      readonly parameter?: string;
      /** Whether the `timeout` of the step ended it. */
      readonly timedOut?: boolean;
      /** Why it could not reach a server, worded the same for each step with that cause. */
      readonly cause?: string;
      /** Whether the server closed the connection: it may have crashed. */
      readonly isClosed?: boolean;
      /** The result of the condition of the key; the report shows the values that decided it. */
      readonly decided?: boolean;
      readonly req?: Readonly<Record<string, unknown>>;
      /** The partial response when the attempt was ended. */
      readonly res?: Readonly<Record<string, unknown>>;
    } = {},
  ) {
    super(message, hint);
  }
}

/** A name that an expression reads, and the keys after it: `vars.user.id`. */
export interface NameRead {
  /** The name: `vars`. */
  readonly root: string;
  /** The keys that are read after it, in order. */
  readonly keys: readonly { readonly name: string }[];
  /** Where it begins, as an offset in the text of the expression. */
  readonly start: number;
  /** Where it ends. */
  readonly end: number;
}

/** An expression that cannot be parsed or evaluated; `start` and `end` are offsets in its text. */
export class ExpressionError extends RunnerError {
  /** The name of the class. */
  override readonly name = "ExpressionError";
  /** `message` and `hint` are for users. */
  constructor(
    message: string,
    readonly start: number,
    readonly end: number,
    hint?: string,
    /** Further details. */
    readonly details: {
      /** The path of the text in the data around it, if any. */
      readonly path?: Path;
      /** Whether the part is a name that is there and nil, and should not be nil. */
      readonly isNil?: boolean;
      /** Values that the part depends on, for the report. */
      readonly operands?: readonly {
        readonly text: string;
        readonly value: Value;
        readonly type: string;
      }[];
      /** All that the expression reads, where it was evaluated. */
      readonly reads?: readonly NameRead[];
    } = {},
  ) {
    super(message, hint);
  }

  /** The path of the text in the data around it; empty if there is none. */
  get path(): Path {
    return this.details.path ?? [];
  }

  /** The same error, in a text at a place of the data around it. */
  within(path: Path): ExpressionError {
    const { message, start, end, hint, details } = this;
    return new ExpressionError(message, start, end, hint, { ...details, path });
  }
}

/** Marks a closed union: TypeScript rejects the call if a case is missing. */
export function assertNever(value: never): never {
  throw new Error(`unreachable: ${JSON.stringify(value)}`);
}
