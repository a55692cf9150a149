import type { Failure } from "./event.ts";
import { StepError } from "../source/errors.ts";
import type { Path } from "../source/source.ts";

/** An error with the key of the step or job that it came up in. */
export class FieldError extends Error {
  constructor(readonly field: Path, override readonly cause: unknown) {
    super(String(cause));
  }
}

/** Evaluates what a key holds; an error then knows the key. */
export function inField<T>(field: Path, evaluate: () => T): T {
  try {
    return evaluate();
  } catch (error) {
    throw error instanceof FieldError ? error : new FieldError(field, error);
  }
}

/** Why an embedded job came to no result. Another attempt would come to none either. */
export class EmbeddedError extends StepError {
  /** `failure` is what failed in the job file; without it the job was stopped from outside. */
  constructor(message: string, readonly failure?: Failure) {
    super(message);
  }
}
