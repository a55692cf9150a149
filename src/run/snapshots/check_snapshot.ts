import { pathDenial } from "../../action/permissions/rules.ts";
import type { Expression } from "../../expr/expression.ts";
import { locateByPath } from "../../expr/functions/json_path.ts";
import { followsRule } from "../../expr/functions/matching.ts";
import { explainDenial } from "../../host/explain_denial.ts";
import { RunnerError, StepError } from "../../base/errors.ts";
import { isEqual } from "../../base/value/compare.ts";
import type { Mismatch } from "../../base/value/difference.ts";
import {
  copyValue,
  type Dict,
  isDict,
  plain,
  readField,
  type Value,
} from "../../base/value/value.ts";
import type { Snapshot } from "../../workflow/model.ts";
import type { Failure, SnapshotOutcome } from "../event.ts";
import {
  FieldError,
  inField,
  type SnapshotDifference,
  UnexpectedResult,
} from "../execute/evaluate_field.ts";
import type { RunExecution, StepExecution } from "../run_state.ts";
import {
  extensionOf,
  maskedValue,
  nameOfRun,
  readSnapshot,
  snapshotDirectory,
  writeSnapshot,
} from "./snapshot_files.ts";

/** The result of comparing a step with its snapshot. */
export interface SnapshotCheck {
  readonly failures: readonly Failure[];
  readonly outcome?: SnapshotOutcome;
  /** Writes it; for a step in which nothing else failed. */
  readonly write?: () => Promise<void>;
}

/** Compares the result of a step with its snapshot. */
export async function checkSnapshot(
  step: StepExecution,
  snapshot: Snapshot,
): Promise<SnapshotCheck> {
  try {
    return { failures: [], ...await compare(step, snapshot) };
  } catch (error) {
    if (error instanceof UnexpectedResult && error.unexpected.kind === "snapshot") {
      const { file } = error.unexpected.difference;
      return { failures: [await step.failureOf(error)], outcome: { file, state: "failed" } };
    }
    const cause = error instanceof FieldError
      ? error
      : new FieldError(["snapshot"], fileProblem("read", error));
    return { failures: [await step.failureOf(cause)] };
  }
}

/** An error of the system or of Deno's permissions about a snapshot, as the user sees it. */
function fileProblem(activity: "read" | "write", error: unknown): unknown {
  if (error instanceof RunnerError || !(error instanceof Error)) return error;
  const denial = explainDenial(error);
  const isOfSystem = "code" in error || /^(?:Is|Not)A?(?:Directory|Found)/.test(error.name);
  if (!denial && !isOfSystem) return error;
  const message = denial?.message ?? error.message;
  return new StepError(`cannot ${activity} the snapshot: ${message}`, denial?.hint);
}

async function compare(
  step: StepExecution,
  snapshot: Snapshot,
): Promise<Omit<SnapshotCheck, "failures">> {
  const { run, scope } = step;
  const { host, secrets, snapshots: mode } = run;
  const { of, name } = snapshot;
  const found = of
    ? inField(["snapshot", "of"], () => notNil(of.evaluate(scope), of), of)
    : readField(step.names.res as Dict, "body");
  if (found === undefined) {
    throw new StepError(
      "the result has no res.body to compare",
      "write what is compared: snapshot: { of: res.… }",
    );
  }
  const mismatches = mismatchesOf(found, snapshot);
  const received = of?.source.trim() ?? "res.body";
  const directory = snapshotDirectory(run.plan.workflow.document);
  const base = `${directory}/${nameOfRun(step.id, name)}`;
  useOnce(step, base);
  // In this order, as a value from a file is masked already.
  const value = stableValue(maskedValue(found, secrets), snapshot);
  const known = await readSnapshot(host, base);
  const updated = `${base}.${extensionOf(value)}`;
  const file = known?.path ?? updated;
  if (mismatches.length > 0) {
    const message = "values are not as the snapshot's match says";
    throw differs({ file, message, expected: "match", received, mismatches });
  }
  const write = async () => {
    try {
      // If the type of the value changes, the file gets another extension.
      for (const path of new Set([file, updated])) await allowWriting(run, path);
      await writeSnapshot(host, base, value);
    } catch (error) {
      throw new FieldError(["snapshot"], fileProblem("write", error));
    }
  };
  if (!known) {
    if (mode !== "check") return { outcome: { file, state: "written" }, write };
    throw new StepError(
      `the snapshot "${file}" does not exist`,
      "run it without CI=true, or with --snapshot=write, and commit the file that is written",
    );
  }
  const before = known.value === undefined ? undefined : stableValue(known.value, snapshot);
  if (before !== undefined && isEqual(before, value)) return { outcome: { file, state: "passed" } };
  if (mode === "update" || mode === "prune") {
    return { outcome: { file: updated, state: "updated" }, write };
  }
  if (before === undefined) {
    throw new StepError(`the snapshot "${file}" is not JSON`, "--update-snapshots replaces it");
  }
  const message = "the result differs from its snapshot";
  throw differs({ file, message, expected: file, received, before, value });
}

function differs(difference: SnapshotDifference): UnexpectedResult {
  return new UnexpectedResult({ kind: "snapshot", difference });
}

/** A nil is more likely a name that is wrong, and its snapshot would pass for ever. */
function notNil(value: Value, { source }: Expression): Value {
  if (value !== null) return value;
  throw new StepError(
    `${source.trim()} is nil: there is nothing to compare`,
    "a test can say that something is nil",
  );
}

/** Throws where another step has the same snapshot, which only a run can know of some. */
function useOnce({ run, id }: StepExecution, base: string): void {
  const owners = run.resources.resource("owners of snapshots", () => new Map<string, string>());
  const owner = JSON.stringify(id);
  const known = owners.getOrInsert(base.toLowerCase(), owner);
  if (known === owner) return;
  throw new StepError(
    `two steps have the snapshot "${base}"`,
    "give one of them a name: snapshot: { name: … }",
  );
}

async function allowWriting({ options, host }: RunExecution, path: string): Promise<void> {
  const { permissions } = options;
  const refused = permissions && await pathDenial(permissions, "write", path, host);
  if (refused) {
    throw new StepError(`cannot write the snapshot "${path}": ${refused.message}`, refused.hint);
  }
}

/** Values that are not as `match` says. */
function mismatchesOf(
  value: Value,
  { match }: Snapshot,
): readonly Mismatch[] {
  return match.flatMap(({ path, rule }) =>
    locateByPath(value, path).flatMap((location) => {
      const actual = valueAt(value, location);
      return followsRule(actual, rule) ? [] : [{ path: location, expected: rule, actual }];
    })
  );
}

/** A value whose unstable parts are replaced by the rule that covers them. */
function stableValue(value: Value, { ignore, match }: Snapshot): Value {
  const replacements = [
    ...ignore.map((path) => ({ path, rule: "ignored" })),
    ...match,
  ].flatMap(({ path, rule }) =>
    locateByPath(value, path).map((location) => ({ location, mark: `<${rule}>` }))
  );
  if (replacements.length === 0) return value;
  const holder = { root: copyValue(value) };
  for (const { location, mark } of replacements) setAt(holder, ["root", ...location], mark);
  return holder.root;
}

function setAt(root: object, path: readonly (string | number)[], mark: string): void {
  let at: unknown = root;
  for (const step of path.slice(0, -1)) {
    if (typeof at !== "object" || at === null) return;
    at = (at as Record<string | number, unknown>)[step];
  }
  // Something around it may have been replaced.
  if (typeof at === "object" && at !== null) {
    (at as Record<string | number, unknown>)[path.at(-1)!] = mark;
  }
}

function valueAt(value: Value, path: readonly (string | number)[]): Value {
  return path.reduce<Value>(
    (at, step) =>
      Array.isArray(at)
        ? plain(at[Number(step)])
        : isDict(at)
        ? readField(at, String(step)) ?? null
        : null,
    value,
  );
}
