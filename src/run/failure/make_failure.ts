import { countOf } from "../../base/text/count_of.ts";
import { explained } from "../../expr/hints.ts";
import { positionsOf } from "../../base/yaml/positions.ts";
import { cutText } from "../../base/text/printable.ts";
import { endsInBackground, runResources } from "../../action/run_resources.ts";
import { ExpressionError, type NameRead, RunnerError, StepError } from "../../base/errors.ts";
import {
  excerptOf,
  type Path,
  shortenExcerpt,
  type Source,
  type SourceExcerpt,
} from "../../base/source.ts";
import { diffValues, renderMismatches } from "../../base/value/difference.ts";
import { formatDuration, formatElapsed } from "../../base/value/duration.ts";
import { type Dict, isDict, type Value } from "../../base/value/value.ts";
import type { Explanation, TestOperand } from "../../expr/expression.ts";
import { explain } from "../../expr/evaluate/explain.ts";
import { findReferences } from "../../expr/references.ts";
import { assertionPath } from "../../workflow/step_facts.ts";
import type { Assertion, Positions } from "../../workflow/model.ts";
import { causeOfRun } from "../step_trees.ts";
import type { Failure, Operand } from "../event.ts";
import {
  EmbeddedError,
  FieldError,
  type Unexpected,
  UnexpectedResult,
  wordsOf,
} from "../execute/evaluate_field.ts";
import type { FailureOwner, RunExecution, StepExecution } from "../run_state.ts";
import {
  explainNil,
  nilParameterHint,
  nilPartsHint,
  upstreamReason,
  withTrouble,
} from "./explain_nil.ts";
import type { Masker } from "../../secrets/masker.ts";

/** Turns what was thrown in a step or job into a failure with its position in the file. */
export function makeFailure(owner: FailureOwner, error: unknown): Promise<Failure> {
  const failure = describeFailure(owner, error);
  if (!("model" in owner)) return failure;
  const ends = endsInBackground(owner.round.resources);
  return ends.length > 0 || owner.model.test?.some(({ says }) => says)
    ? failure.then((one) => withEnds(ends, inWords(owner, one)))
    : failure;
}

/** A failure of an assertion with what this says. */
function inWords({ model, scope }: StepExecution, failure: Failure): Failure {
  const assertion = model.test?.find((one) =>
    assertionPath(["test"], one).join(".") === failure.field
  );
  const says = assertion && wordsOf(assertion, scope);
  return says === undefined ? failure : { ...failure, message: `${says}: ${failure.message}` };
}

/** Says which servers of the job are gone. */
function withEnds(ends: readonly string[], failure: Failure): Failure {
  const { hint } = failure;
  const unsaid = ends.filter((end) => !hint?.includes(end));
  if (unsaid.length === 0) return failure;
  return { ...failure, hint: [...hint === undefined ? [] : [hint], ...unsaid].join("\n") };
}

async function describeFailure(owner: FailureOwner, error: unknown): Promise<Failure> {
  if (error instanceof UnexpectedResult && "model" in owner) {
    return await failureOfResult(owner, error.unexpected).catch((fault) =>
      makeFailure(owner, fault)
    );
  }
  const inField = error instanceof FieldError ? error : { field: [], cause: error };
  const { field } = inField;
  const cause = explained(inField.cause);
  if (cause instanceof EmbeddedError && cause.failure) return cause.failure;
  return cause instanceof ExpressionError
    ? failureOfExpression(owner, field, cause)
    : await failureOfError(owner, inField);
}

async function failureOfError(
  owner: FailureOwner,
  { field, cause, tree }: Pick<FieldError, "field" | "cause" | "tree">,
): Promise<Failure> {
  const { run } = owner;
  const isOurs = !(cause instanceof RunnerError);
  const { parameter, cause: unreachable, isClosed, decided } = cause instanceof StepError
    ? cause.details
    : {};
  const nilReason = () => {
    if (tree) return explainNil({ owner, field }, findReferences(tree).needed);
    return parameter === undefined ? undefined : nilParameterHint(owner, parameter);
  };
  // Where nothing listens, a server that crashed is gone.
  const isRefused = unreachable?.includes("ECONNREFUSED");
  const ended = unreachable !== undefined || isClosed
    ? await runResources({ scope: { run: run.resources } })
      .backgroundFailure(isRefused ? 0 : CRASH_LAG, run.deadlines)
    : undefined;
  const why = decided === undefined ? undefined : explainCondition(owner, decided, tree);
  const hint = isOurs ? bugHint(run, cause) : ended ?? nilReason() ?? why?.hint ?? cause.hint;
  const isStopped = run.cancellation.reason !== undefined || cause instanceof EmbeddedError;
  return {
    kind: isStopped ? "interrupted" : decided === false ? "test" : "action",
    field: field.map(String).join("."),
    message: isOurs ? `internal error: ${briefError(cause)}` : cause.message,
    operands: why && shownOperands(run, why.operands),
    cause: unreachable ?? upstreamCause(owner, hint),
    hint,
    place: locateFailure(run, pathIn(owner, field)),
  };
}

/** Milliseconds between the end of the connections of a server that crashes and its own. */
const CRASH_LAG = 300;

function failureOfExpression(
  owner: FailureOwner,
  field: Path,
  error: ExpressionError,
): Failure {
  const { message, start, end, details: { reads: all = [], isNil = false, operands } } = error;
  const path = [...field, ...error.path];
  const isText = /^cannot (?:compare|compute|add) .*\bstring\b|numbers?, got string$/.test(message);
  const likely = isText ? columnHint(owner, all, error.hint) : error.hint;
  const marked = all.filter((read) => read.start < end && read.end >= start);
  const hint = explainNil({ owner, field: path }, marked, { all, isNil }) ??
    withTrouble(owner, marked, likely ?? nilPartsHint(owner));
  return {
    kind: "expression",
    field: [field.map(String).join("."), ...error.path].join("."),
    message,
    operands: operands && shownOperands(owner.run, operands),
    cause: upstreamCause(owner, hint),
    hint,
    place: locateFailure(owner.run, pathIn(owner, path), start, end),
  };
}

function pathIn(owner: FailureOwner, field: Path): Path {
  return [...("model" in owner ? owner.model : owner.job).path, ...field];
}

/** Returns the values that decided a condition such as `retry.until`. */
function explainCondition(owner: FailureOwner, decided: boolean, tree: FieldError["tree"]) {
  if (!("model" in owner) || !tree || !("node" in tree)) return undefined;
  const { operands, hint } = explain(tree, owner.scope, decided);
  return { operands, hint: fieldHint(owner, operands) ?? hint };
}

/** Formats an unexpected error with the line that threw it. */
function briefError(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const frame = cause.stack?.split("\n").find((line) => /^\s+at .*:\d+:\d+/.test(line));
  return frame === undefined ? String(cause) : `${cause} (${frame.trim()})`;
}

/** Asks for a report of a bug, for which `-v` shows the whole stack. */
function bugHint(run: RunExecution, cause: unknown): string {
  const stack = cause instanceof Error ? cause.stack : undefined;
  if (stack !== undefined && run.detail.debug) run.note("debug", stack);
  return "this is a bug: please report it, with the stack that -v shows";
}

/** The failed step before this one that the hint of a failure names. */
function upstreamCause(owner: FailureOwner, hint: string | undefined): string | undefined {
  if (!("model" in owner) || hint === undefined) return undefined;
  const upstream = owner.round.failures.upstream.find((failure) =>
    failure.state === "failed" && hint.includes(upstreamReason(failure))
  );
  return upstream && causeOfRun(upstream.run);
}

/** A hint about a text in place of a number; a column of a file becomes one by its type. */
function columnHint(
  owner: FailureOwner,
  reads: readonly Pick<NameRead, "root" | "keys">[],
  hint: string | undefined,
): string | undefined {
  if (!("model" in owner) || owner.model.iteration?.kind !== "file") return hint;
  const { template } = owner.entry ?? {};
  const row = template?.kind === "constant" ? template.value as Value : null;
  if (!isDict(row)) return hint;
  const column = reads.flatMap(({ root, keys: [key] }) => root === "vars" && key ? key.name : [])
    .find((name) => typeof row[name] === "string" && /^\s*[-+]?\d+(\.\d+)?\s*$/.test(row[name]));
  return column === undefined
    ? hint
    : `columns of a file are strings: add types: { ${column}: number }, or types: auto, ` +
      `to "iteration"`;
}

/** Describes a field of `res` whose type is not the one that the test expects. */
function fieldHint({ model }: StepExecution, operands: readonly TestOperand[]): string | undefined {
  for (const { text, type } of operands) {
    const field = model.action.responseFields?.find(({ name }) => text === `res.${name}`);
    const others = operands.filter((other) => other.text !== text);
    if (field?.hint && others.every((other) => other.type !== type)) return field.hint;
  }
  return undefined;
}

/** The failure of a step whose result is not as expected. */
async function failureOfResult(step: StepExecution, result: Unexpected): Promise<Failure> {
  const { run } = step;
  const locate = (path: Path) => locateFailure(run, pathIn(step, path));
  switch (result.kind) {
    case "test":
      return await failureOfTest(step, result.assertion);
    case "max_time":
      return { ...failureOfTime(result), place: locate(["max_time"]) };
    case "job": {
      const { file, steps, failed } = result.job;
      return {
        kind: "embedded",
        field: "with.path",
        message: `${file} failed: ${failed} of ${countOf(steps, "step")}`,
        place: locate(["with", "path"]),
      };
    }
    case "violation": {
      const { message, hint, path, sides } = result.violation;
      return {
        kind: "test",
        field: ["with", ...path].join("."),
        message,
        hint,
        violation: sides && {
          ...sides,
          // Masked before it is cut, so that no half of a secret is left.
          received: cutText(run.secrets.mask(sides.received), WIDEST_VALUE),
        },
        place: locate(["with", ...path]),
      };
    }
    case "snapshot": {
      const { message, expected, received, before, value, mismatches } = result.difference;
      const unequal = before === undefined || value === undefined ? undefined : {
        expected: { text: expected, value: before },
        received: { text: received, value },
      };
      const difference = await differenceOf(run, {
        unequal,
        mismatches: mismatches && { expected, received, places: mismatches },
      });
      return {
        kind: "test",
        field: "snapshot",
        message,
        difference: difference && { ...difference, sideBySide: true },
        hint: before === undefined
          ? undefined
          : "run it with --update-snapshots to accept the new result",
        place: locate(["snapshot"]),
      };
    }
  }
}

/** The failure of a `test` that came out false, with the values that decided it. */
async function failureOfTest(step: StepExecution, assertion: Assertion): Promise<Failure> {
  const { run, scope, model: { action, test: all = [] } } = step;
  const { expression: test, index } = assertion;
  const field = assertionPath(["test"], assertion);
  const { start, end, operands, hint: found, ...sides } = explain(test, scope, false);
  const { references, needed } = findReferences(test);
  const likely = found?.includes(": write parse_") ? columnHint(step, references, found) : found;
  const absent = operands.filter(({ value }) => value === null);
  const marked = needed.filter((read) =>
    absent.some(({ start, end }) => read.start >= start && read.end <= end)
  );
  const hint = explainNil({ owner: step, field: [] }, marked, { all: needed }) ?? withTrouble(
    step,
    marked,
    fieldHint(step, operands) ?? likely ?? nilPartsHint(step) ??
      (await action.explainer?.())?.testHint?.(
        operands.map(({ text }) => text),
        scope.names.res as Dict,
      ),
  );
  return {
    kind: "test",
    field: field.join("."),
    message: index === undefined ? "test is false" : `test ${index + 1} of ${all.length} is false`,
    expression: test.source,
    operands: shownOperands(run, operands),
    difference: await differenceOf(run, sides),
    cause: upstreamCause(step, hint),
    hint,
    place: locateFailure(run, pathIn(step, field), start, end),
  };
}

/** The failure of an action that took longer than `max_time`, with the phases of that time. */
function failureOfTime(
  { limit, elapsed, phases = {} }: Extract<Unexpected, { readonly kind: "max_time" }>,
): Failure {
  const parts = Object.entries(phases).filter(([, time]) => time >= 0.1);
  const known = parts.reduce((sum, [, time]) => sum + time, 0);
  const operands = parts.map(([name, time]) => ({
    text: name.replaceAll("_", " "),
    type: `ms, ${Math.round(time / Math.max(elapsed, known) * 100)}%`,
    value: Math.round(time * 10) / 10,
  }));
  const [slowest] = parts.toSorted(([, a], [, b]) => b - a);
  return {
    kind: "test",
    field: "max_time",
    message: `it took ${formatElapsed(elapsed)}, more than ${formatDuration(limit)}`,
    operands: operands.length === 0 ? undefined : operands,
    hint: slowest && `most of it was ${slowest[0].replaceAll("_", " ")}`,
  };
}

/** Characters of a value that differs from a description. */
const WIDEST_VALUE = 2000;

async function differenceOf(
  { secrets }: RunExecution,
  { unequal, mismatches }: Pick<Explanation, "unequal" | "mismatches">,
): Promise<Failure["difference"]> {
  const mask = (text: string) => secrets.mask(text);
  if (mismatches && mismatches.places.length > 0) {
    const { expected, received, places } = mismatches;
    return { expected, received, lines: renderMismatches(places, mask) };
  }
  if (!unequal) return undefined;
  const { expected, received } = unequal;
  const lines = await diffValues(expected.value, received.value, mask);
  return lines.length === 0
    ? undefined
    : { expected: expected.text, received: received.text, lines };
}

/** The parts of an expression with their values, as reports show them. */
export function shownOperands(
  run: RunExecution,
  operands: readonly { readonly text: string; readonly type: string; readonly value: Value }[],
): Operand[] {
  return operands.map(({ text, type, value }) => ({ text, type, value: run.bound(value) }));
}

/** The position of a value of the document of a run, or of a part of its text, with its line. */
function locateFailure(
  { document, secrets, resources }: RunExecution,
  path: Path,
  start?: number,
  end?: number,
): SourceExcerpt {
  const positions = positionsOf(document);
  // A repeated step may fail ten thousand times at one place, and finding it is slow.
  const known = resources.resource(
    "places of failures",
    () => new Map<Positions, Map<string, SourceExcerpt>>(),
  );
  const places = known.getOrInsertComputed(positions, () => new Map());
  const key = JSON.stringify([path, start, end]);
  return places.getOrInsertComputed(
    key,
    () => withShortLine(findExcerpt(positions, path, start, end), secrets),
  );
}

/** A file may be one line of megabytes; more of it is never shown. */
const LONGEST_LINE = 1000;

/** Cuts a long line; secrets are masked first, so that no half of one is left. */
function withShortLine(excerpt: SourceExcerpt, secrets: Masker): SourceExcerpt {
  const { text, from, to } = excerpt;
  if (text.length <= LONGEST_LINE) return excerpt;
  const start = Math.max(0, from - LONGEST_LINE);
  const end = Math.min(text.length, from + LONGEST_LINE);
  const lengthUpTo = (offset: number) => secrets.mask(text, start, Math.min(offset, end)).length;
  return shortenExcerpt({
    ...excerpt,
    text: secrets.mask(text, start, end),
    from: lengthUpTo(from),
    to: lengthUpTo(to),
  }, LONGEST_LINE);
}

function findExcerpt(
  positions: Positions,
  path: Path,
  start?: number,
  end?: number,
): SourceExcerpt {
  const source = positions.text(path);
  if (!source || start === undefined && !isBlock(source)) return excerptOf(positions.locate(path));
  const from = start ?? 0;
  return excerptOf({ source, start: from, end: end ?? (start ?? source.text.length) });
}

/** Whether a text is a block scalar, below its `|` or `>`. */
function isBlock({ origin }: Source): boolean {
  return origin !== undefined && /[|>]/.test(origin.source.text[origin.start] ?? "");
}
