import type { Problem } from "../workflow/problem.ts";
import type { CheckModel } from "./model/model.ts";

/** One thing that static analysis looks for: a record in the list of checks. */
export interface Check {
  /** What it tells, for documents. */
  readonly codes: readonly CheckCode[];
  readonly find: (model: CheckModel) => Iterable<Problem>;
}

/** A kind of finding, by its stable name. */
export interface CheckCode {
  readonly code: string;
  readonly severity: Problem["severity"];
  readonly summary: string;
}
