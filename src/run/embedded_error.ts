import { StepError } from "../source/errors.ts";
import type { Failure } from "./event.ts";

/** Why an embedded job came to no result. Another attempt would come to none either. */
export class EmbeddedError extends StepError {
  /** `failure` is what failed in the job file; without it the job was stopped from outside. */
  constructor(message: string, readonly failure?: Failure) {
    super(message);
  }
}
