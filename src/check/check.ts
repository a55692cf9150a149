import type { DataTemplate } from "../expr/expression.ts";
import type { Outcome } from "../expr/references.ts";
import type { Severity } from "../base/diagnostic.ts";
import { assertNever } from "../base/errors.ts";
import type { Path } from "../base/source.ts";
import { didYouMean } from "../base/text/suggest.ts";
import type { StepDraft } from "../workflow/decode/decode_step.ts";
import type { Problem } from "../workflow/problem.ts";
import type { CheckContext, CheckModel, Reading } from "./model/check_model.ts";
import { isGuarded } from "./model/make_readings.ts";

/** One thing that static analysis looks for: a record in the list of checks. */
export interface Check {
  /** The codes that it reports, for the documentation. */
  readonly codes: readonly CheckCode[];
  readonly find: (model: CheckModel) => Iterable<Problem>;
}

/** A kind of finding, by its stable name. */
export interface CheckCode {
  readonly code: string;
  readonly severity: Problem["severity"];
  readonly summary: string;
}

/** What is refused besides a workflow that must fail. */
export interface RefuseOptions extends CheckContext {
  /** What static analysis warns of. */
  readonly isStrict?: boolean;
  /**
   * Outputs of jobs that a job does not need, since a task is not given them. The variables of the
   * tasks are not known.
   */
  readonly isExport?: boolean;
}

/** The code of an environment variable that is not set. */
export const UNSET = "unset-variable";

/** A finding about the key at an index of what is read. */
export function keyProblem(
  { path, keys }: Reading,
  index: number,
  rest: Omit<Problem, "path" | "range" | "part">,
): Problem {
  const { start, end } = keys[index]!;
  return { ...rest, path, range: { start, end } };
}

/**
 * The severity of a missing value under the key at an index: an error only where the step or the
 * job certainly fails by it.
 */
export function severityOfNil(reading: Reading, index: number): Severity {
  const { isSure, outcomes: { error, nil }, keys, isOpen } = reading;
  const isLast = index === keys.length - 1 && !isOpen;
  // What follows a `?.` may not be read.
  const isRead = isLast || !keys.slice(0, index + 1).some(({ isOptional }) => isOptional);
  return isSure && isRead && !isGuarded(reading, index) && isFailure(isLast ? nil : error, reading)
    ? "error"
    : "warning";
}

function isFailure(outcome: Outcome, { field, step, path }: Reading): boolean {
  switch (outcome) {
    case "error":
      return true;
    case "gap":
      return field !== "name" && field !== "echo";
    case "nil":
      return NOT_NIL.has(field) || MUST_BE_TRUE.has(field) ||
        field === "with" && step !== undefined &&
          isRefused(step.draft, path.slice(step.draft.path.length + 1));
    case "untrue":
      return MUST_BE_TRUE.has(field);
    case undefined:
      return false;
    default:
      return assertNever(outcome);
  }
}

const MUST_BE_TRUE: ReadonlySet<string> = new Set(["test", "retry.until", "repeat.expect"]);
const NOT_NIL: ReadonlySet<string> = new Set([
  ...["skipif", "iteration.until", "wait", "timeout", "max_time", "retry.initial_delay"],
]);

/** Whether a template in the parameters of a step must not give nil. */
function isRefused({ with: params, action }: StepDraft, path: Path): boolean {
  const [name] = path;
  const isRequired = action?.parameters?.some((one) => one.name === name && one.required);
  if (path.length === 1 && isRequired) return true;
  const at = path.reduce<DataTemplate | undefined>(
    (data, key) =>
      data?.kind === "list"
        ? data.items[Number(key)]
        : data?.kind === "map"
        ? data.entries.find(([name]) => name === key)?.[1]
        : undefined,
    params,
  );
  return at?.kind === "template" && at.nilOmits !== undefined;
}

/** Finding a suggestion takes time in proportion to the names; more hints than this do not help. */
const MOST_HINTS = 50;
const MOST_NAMES = 5000;

/** Gives what `didYouMean` gives, as often as it is worth it. */
export function hintGiver(): (word: string, names: () => readonly string[]) => string | undefined {
  let left = MOST_HINTS;
  return (word, names) => left-- > 0 ? didYouMean(word, names().slice(0, MOST_NAMES)) : undefined;
}
