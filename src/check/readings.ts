/** What the checks ask about a place that reads a value. */
import type { Parameter } from "../action/parameter.ts";
import type { DataTemplate, Expression } from "../expr/expression.ts";
import { parseExpression } from "../expr/parse_expression.ts";
import { type Ending, keyPath } from "../expr/references.ts";
import type { Severity } from "../base/diagnostic.ts";
import { assertNever } from "../base/errors.ts";
import type { Path } from "../base/source.ts";
import { valueAt } from "../base/value/value.ts";
import { assertionPath } from "../workflow/step_facts.ts";
import type { StepDraft } from "../workflow/decode/decode_step.ts";
import type { RuleForm } from "../workflow/names.ts";
import type { Problem } from "../workflow/problem.ts";
import type { CheckedStep, Reading } from "./model.ts";

/** A finding about the key at an index of a reading. */
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

function isFailure(outcome: Ending, { root, key, form, step, path }: Reading): boolean {
  switch (outcome) {
    case "error":
      return true;
    case "gap":
      return key !== "name" && key !== "echo";
    case "said":
      // A request would have the word in the place of the value.
      return root === "vars" && key === "with";
    case "nil":
      return isRefusedNil(form) ||
        key === "with" && step !== undefined &&
          isRefused(step.draft, path.slice(step.draft.path.length + 1));
    case "untrue":
      return form?.key?.mustHold === true;
    case undefined:
      return false;
    default:
      return assertNever(outcome);
  }
}

/** Whether a key is a condition or a duration, which must not be nil. */
function isRefusedNil({ type, key }: Partial<RuleForm> = {}): boolean {
  return type === "duration" || key?.kind === "assertions" ||
    key?.kind === "expression" && !key.mayBeNil;
}

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
  return at?.kind === "template" && at.nilOmits !== undefined ||
    isOnlyField(action?.parameters ?? [], path, params);
}

/** Whether a path leads to a required field of a map, or to the one that it has of several. */
function isOnlyField(
  parameters: readonly Parameter[],
  [name, ...rest]: Path,
  data: DataTemplate | undefined,
): boolean {
  const { fields, oneField } = parameters.find((one) => one.name === name) ?? {};
  const inner = data?.kind === "map" ? data.entries.find(([key]) => key === name)?.[1] : undefined;
  if (!fields || rest.length === 0 || inner?.kind !== "map") return false;
  if (rest.length > 1) return isOnlyField(fields, rest, inner);
  return oneField
    ? inner.entries.length === 1
    : fields.some((field) => field.name === rest[0] && field.required);
}

/** Whether a key is evaluated in a run in which nothing else fails, and what fails in it counts. */
export function isSurelyEvaluated(
  { job, step, key, form }: Pick<Reading, "job" | "step" | "key" | "form">,
): boolean {
  const { skipif, when, repeat, load } = job.draft;
  if (!job.isSure || when === "failure") return false;
  if (!step) {
    return key === "skipif" || !skipif && form?.key?.mustHold === true;
  }
  // A job with `expect` may pass although steps of it fail.
  if (skipif || repeat?.count === 0) return false;
  if (load?.expect) return false;
  if (step.draft.skipif && key !== "skipif") return false;
  const { iteration } = step.draft;
  const hasEntries = iteration?.kind === "list"
    ? iteration.entries.length > 0
    : iteration === undefined || iteration.kind === "loop";
  return !form?.key?.isOccasional && (hasEntries || key === "iteration");
}

/** Whether it is in an entry of an iteration, and not in what is evaluated for each of them. */
export function isInEntries({ key, form }: Pick<Reading, "key" | "form">): boolean {
  const kind = form?.key?.kind;
  return key === "iteration" && (kind === "iteration" || kind === "matrix");
}

/** Whether the reader accepts nil up to the key at an index. */
export function isGuarded({ root, keys, guards }: Reading, index: number): boolean {
  const key = keyPath(root, keys, index);
  return guards.some(({ tested }) => tested.has(key));
}

/** Whether `?.` or `??` says that the value under the key at an index may be missing. */
export function isOptional({ root, keys, guards }: Reading, index: number): boolean {
  const key = keyPath(root, keys, index);
  return keys[index]!.isOptional || guards.some(({ optional }) => optional.has(key));
}

/** The condition of the messages that a step of receive takes, with its path. */
export function* whereOf({ draft, raw }: CheckedStep): Iterable<readonly [Path, Expression]> {
  const path = ["with", "where"];
  const where = valueAt(raw, path);
  if (draft.action?.name !== "receive" || typeof where !== "string") return;
  try {
    yield [[...draft.path, ...path], parseExpression(where)];
  } catch {
    // It was reported.
  }
}

/** The expressions that decide by the result of a step, with their paths. */
export function* conditionsOf(step: CheckedStep): Iterable<readonly [Path, Expression]> {
  const { path, test = [], retry, iteration } = step.draft;
  yield* whereOf(step);
  for (const assertion of test) {
    yield [assertionPath([...path, "test"], assertion), assertion.expression];
  }
  if (retry?.until) yield [[...path, "retry", "until"], retry.until];
  if (retry?.stop) yield [[...path, "retry", "stop"], retry.stop];
  if (iteration?.kind === "loop") yield [[...path, "iteration", "until"], iteration.until];
}
