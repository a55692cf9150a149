import type { ContractViolation, JobResult } from "../../action/action.ts";
import { runResources } from "../../action/run_resources.ts";
import type { Explanation, Expression, Scope, TestOperand } from "../../expr/expression.ts";
import { findReferences } from "../../expr/references.ts";
import { ExpressionError, RunnerError, StepError } from "../../base/errors.ts";
import {
  excerptOf,
  type Path,
  shortenExcerpt,
  type Source,
  type SourceExcerpt,
} from "../../base/source.ts";
import { boundValue } from "../../secrets/bound_value.ts";
import { diffValues } from "../../base/value/diff_values.ts";
import { formatDuration, formatElapsed } from "../../base/value/duration.ts";
import type { Masker } from "../../secrets/masker.ts";
import type { Dict, Value } from "../../base/value/value.ts";
import { boundedMeter, LimitError } from "../../base/value/meter.ts";
import { type Mismatch, renderMismatches } from "../../base/value/mismatch.ts";
import { assertionPath } from "../../workflow/assertion_path.ts";
import type { Assertion, Job, Positions } from "../../workflow/model.ts";
import { EmbeddedError, FieldError } from "../execute/evaluate_field.ts";
import { causeOfRun } from "../cause_of_run.ts";
import type { Failure, PassedTest, Violation } from "../event.ts";
import type { StepContext } from "../execute/step_context.ts";
import type { Session } from "../session.ts";
import { explainNil, type Reader, upstreamReason, withTrouble } from "./explain_nil.ts";
import { type AttemptInput, nilParameterHint, nilPartsHint } from "./nil_parameters.ts";
import { columnHint, fieldHint } from "./type_hints.ts";

/** The step, in a round, or the job that something failed in. */
export type Owner = Pick<StepContext, "step" | "round"> & Partial<StepContext> | {
  readonly trouble?: undefined;
  readonly job: Job;
};

/** Turns what was thrown in a step or job into a failure with its place in the file. */
export async function failureOfError(
  session: Session,
  owner: Owner,
  error: unknown,
  given?: AttemptInput,
): Promise<Failure> {
  const { field, cause, tree } = error instanceof FieldError
    ? error
    : { field: [], cause: error, tree: undefined };
  const path = [...pathOf(owner), ...field];
  const fieldName = field.map(String).join(".");
  if (cause instanceof EmbeddedError && cause.failure) return cause.failure;
  if (cause instanceof ExpressionError) {
    const place = [...path, ...cause.path];
    const reader = readerOf(session, owner, place);
    const isText = /^cannot (?:compare|compute|add) .*\bstring\b/.test(cause.message);
    const likely = isText && "step" in owner
      ? columnHint(owner, cause.details.reads, cause.hint)
      : cause.hint;
    const { reads: all = [], isNil = false } = cause.details;
    const marked = all.filter((read) => read.start < cause.end && read.end >= cause.start);
    const hint = explainNil(reader, marked, { all, isNil }) ??
      withTrouble(owner, marked, likely ?? (given && nilPartsHint(reader, given)));
    return {
      kind: "expression",
      field: [fieldName, ...cause.path].join("."),
      message: cause.message,
      ...upstreamCause(owner, hint),
      ...hint === undefined ? {} : { hint },
      ...await placeAt(session, place, cause.start, cause.end),
    };
  }
  const reader = readerOf(session, owner, path);
  const isOurs = !(cause instanceof RunnerError);
  const { parameter, cause: unreachable, isClosed, decided } = cause instanceof StepError
    ? cause.details
    : {};
  const nilReason = () => {
    if (tree) return explainNil(reader, findReferences(tree).needed);
    return given && parameter !== undefined
      ? nilParameterHint(reader, given, parameter)
      : undefined;
  };
  // Where nothing listens, a server that crashed is gone.
  const isRefused = unreachable?.includes("ECONNREFUSED");
  const ended = unreachable !== undefined || isClosed
    ? await runResources({ scope: { run: session.scope } })
      .backgroundFailure(isRefused ? 0 : CRASH_LAG, session.deadlines)
    : undefined;
  const why = decided === undefined ? undefined : explainCondition(owner, decided, tree);
  const hints = isOurs ? bugHint(session, cause) : hintOf(cause, ended ?? nilReason() ?? why?.hint);
  const isStopped = session.cancellation.reason !== undefined || cause instanceof EmbeddedError;
  return {
    kind: isStopped ? "interrupted" : decided === false ? "test" : "action",
    field: fieldName,
    message: isOurs ? `internal error: ${briefError(cause)}` : cause.message,
    ...why ? { operands: shownOperands(session, why.operands) } : {},
    ...unreachable === undefined ? upstreamCause(owner, hints.hint) : { cause: unreachable },
    ...hints,
    ...await placeAt(session, path),
  };
}

/** Milliseconds between the end of the connections of a server that crashes and its own. */
const CRASH_LAG = 300;

/** The values by which a condition such as `retry.until` ended a step. */
function explainCondition(owner: Owner, decided: boolean, tree: FieldError["tree"]) {
  if (!("scope" in owner) || !owner.scope || !tree || !("explain" in tree)) return;
  const { operands, hint } = tree.explain(owner.scope, decided);
  return { operands, hint: fieldHint(owner.step.action, operands) ?? hint };
}

/** An unexpected error, with the place where it was thrown. */
function briefError(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  const frame = cause.stack?.split("\n").find((line) => /^\s+at .*:\d+:\d+/.test(line));
  return frame === undefined ? String(cause) : `${cause} (${frame.trim()})`;
}

/** Asks for a report of a bug, for which `-v` shows the whole stack. */
function bugHint({ detail, emit, host }: Session, cause: unknown): { hint: string } {
  const stack = cause instanceof Error ? cause.stack : undefined;
  if (stack !== undefined && detail.debug) {
    emit({ type: "note", time: host.clock.now(), level: "debug", text: stack });
  }
  return { hint: "this is a bug: please report it, with the stack that -v shows" };
}

function pathOf(owner: Owner): Path {
  return "step" in owner ? owner.step.path : owner.job.path;
}

function readerOf(session: Session, owner: Owner, path: Path): Reader {
  return "round" in owner ? { session, path, round: owner.round } : { session, path };
}

/** The failed step before this one that the hint of a failure names. */
function upstreamCause(owner: Owner, hint: string | undefined): Pick<Failure, "cause"> {
  const upstream = "round" in owner && hint !== undefined
    ? owner.round.upstreamFailures.find((failure) =>
      failure.state === "failed" && hint.includes(upstreamReason(failure))
    )
    : undefined;
  return upstream ? { cause: causeOfRun(upstream.run) } : {};
}

/** The failure of a `test` that came out false, with the values that decided it. */
export async function failureOfTest(
  session: Session,
  context: StepContext,
  assertion: Assertion,
  given: AttemptInput,
): Promise<Failure> {
  const { step: { path, action, test: all = [] }, scope } = context;
  const { expression: test, index } = assertion;
  const field = assertionPath(["test"], assertion);
  const { start, end, operands, hint: found, ...sides } = test.explain(scope, false);
  const likely = found?.includes(": write parse_")
    ? columnHint(context, findReferences(test).references, found)
    : found;
  const reader = readerOf(session, context, path);
  const parts = operands.map(({ text }) => text);
  const { needed } = findReferences(test);
  const absent = operands.filter(({ value }) => value === null);
  const marked = needed.filter((read) =>
    absent.some(({ start, end }) => read.start >= start && read.end <= end)
  );
  const hint = explainNil(reader, marked, { all: needed }) ?? withTrouble(
    context,
    marked,
    fieldHint(action, operands) ?? likely ?? nilPartsHint(reader, given) ??
      (await action.explainer?.())?.testHint?.(parts, scope.names.res as Dict),
  );
  return {
    kind: "test",
    field: field.join("."),
    message: index === undefined ? "test is false" : `test ${index + 1} of ${all.length} is false`,
    expression: test.source,
    operands: shownOperands(session, operands),
    ...await differenceOf(session, sides),
    ...upstreamCause(context, hint),
    ...(hint === undefined ? {} : { hint }),
    ...await placeAt(session, [...path, ...field], start, end),
  };
}

/** The time that an action took, and what took it: milliseconds. */
export interface SpentTime {
  readonly elapsed: number;
  readonly phases: Readonly<Record<string, number>> | undefined;
}

/** The failure of an action that took longer than `max_time`, with the phases of that time. */
export async function failureOfTime(
  session: Session,
  { step: { path } }: StepContext,
  most: number,
  { elapsed, phases = {} }: SpentTime,
): Promise<Failure> {
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
    message: `it took ${formatElapsed(elapsed)}, more than ${formatDuration(most)}`,
    ...operands.length === 0 ? {} : { operands },
    ...slowest ? { hint: `most of it was ${slowest[0].replaceAll("_", " ")}` } : {},
    ...await placeAt(session, [...path, "max_time"]),
  };
}

/** The difference of a result from its snapshot, or from another expectation. */
export interface SnapshotDifference {
  readonly message: string;
  /** Descriptions of the expected and the actual value. */
  readonly expected: string;
  readonly received: string;
  readonly before?: Value;
  readonly value?: Value;
  readonly places?: readonly Mismatch[];
}

/** The failure of a step whose result is not as its snapshot. */
export async function failureOfSnapshot(
  session: Session,
  { step: { path } }: StepContext,
  { message, expected, received, before, value, places }: SnapshotDifference,
): Promise<Failure> {
  const { difference } = await differenceOf(session, {
    ...before === undefined || value === undefined ? {} : {
      unequal: {
        expected: { text: expected, value: before },
        received: { text: received, value },
      },
    },
    ...places ? { mismatches: { expected, received, places } } : {},
  });
  return {
    kind: "test",
    field: "snapshot",
    message,
    ...difference ? { difference: { ...difference, sideBySide: true as const } } : {},
    ...before === undefined
      ? {}
      : { hint: "run it with --update-snapshots to accept the new result" },
    ...await placeAt(session, [...path, "snapshot"]),
  };
}

/** The failure of a step by the job that it embeds. */
export async function failureOfJob(
  session: Session,
  { step: { path } }: StepContext,
  { file, steps, failed }: JobResult,
): Promise<Failure> {
  return {
    kind: "embedded",
    field: "with.path",
    message: `${file} failed: ${failed} of ${steps} ${steps === 1 ? "step" : "steps"}`,
    ...await placeAt(session, [...path, "with", "path"]),
  };
}

/** The failure of a step whose request or response differs from an API description. */
export async function failureOfViolation(
  session: Session,
  { step }: StepContext,
  { message, hint, path, sides }: ContractViolation,
): Promise<Failure> {
  return {
    kind: "test",
    field: ["with", ...path].join("."),
    message: session.secrets.mask(message),
    ...hint === undefined ? {} : { hint },
    ...sides ? { violation: violationOf(session, sides) } : {},
    ...await placeAt(session, [...step.path, "with", ...path]),
  };
}

/** Characters of a value that differs from a description. */
const WIDEST_VALUE = 2000;

/** Masked first and cut then, so that no half of a secret is left. */
function violationOf(
  { secrets }: Session,
  { part, place, expected, received }: NonNullable<ContractViolation["sides"]>,
): Violation {
  const masked = secrets.mask(received);
  const cut = masked.length > WIDEST_VALUE
    ? `${masked.slice(0, WIDEST_VALUE).toWellFormed()}…`
    : masked;
  return { part: secrets.mask(part), place, expected: secrets.mask(expected), received: cut };
}

/** A test that came out true, with the values that decided it. */
export function describePassedTest(session: Session, test: Expression, scope: Scope): PassedTest {
  const { operands } = test.explain(scope, true);
  return { expression: test.source, operands: shownOperands(session, operands) };
}

/** Steps of the meter; values that take more have no diff. */
const MOST_COMPARED = 1_000_000;

async function differenceOf(
  { secrets }: Session,
  { unequal, mismatches }: Pick<Explanation, "unequal" | "mismatches">,
): Promise<Pick<Failure, "difference">> {
  const options = {
    meter: boundedMeter(MOST_COMPARED),
    mask: (text: string) => secrets.mask(text),
  };
  try {
    if (mismatches && mismatches.places.length > 0) {
      const { expected, received, places } = mismatches;
      return { difference: { expected, received, lines: renderMismatches(places, options) } };
    }
    if (!unequal) return {};
    const { expected, received } = unequal;
    const lines = await diffValues(expected.value, received.value, options);
    if (lines.length === 0) return {};
    return { difference: { expected: expected.text, received: received.text, lines } };
  } catch (error) {
    if (error instanceof LimitError) return {};
    throw error;
  }
}

function shownOperands(
  { secrets, detail }: Session,
  operands: readonly TestOperand[],
): NonNullable<Failure["operands"]> {
  return operands.map(({ text, type, value }) => ({
    text,
    type,
    value: boundValue(value, detail.limit, (text, from, to) => secrets.mask(text, from, to)),
  }));
}

/** Places in one document, by their paths. */
type Places = Map<string, SourceExcerpt>;

/** The place of a value of a document, or of a part of its text. */
async function placeAt(
  { document, secrets, scope }: Session,
  path: Path,
  start?: number,
  end?: number,
): Promise<{ place: SourceExcerpt }> {
  const positions = await document.positions();
  // A repeated step may fail ten thousand times at one place, and finding it is slow.
  const known = scope.resource("places of failures", () => new Map<Positions, Places>());
  const places = known.getOrInsertComputed(positions, () => new Map());
  const key = JSON.stringify([path, start, end]);
  let place = places.get(key);
  if (!place) places.set(key, place = shownPlace(secrets, findPlace(positions, path, start, end)));
  return { place };
}

/** A file may be one line of megabytes; more of it is never shown. */
const LONGEST_LINE = 1000;

/** A place with no more of its line than can be seen, without secrets. */
function shownPlace(secrets: Masker, place: SourceExcerpt): SourceExcerpt {
  const { text, from, to } = place;
  if (text.length <= LONGEST_LINE) return place;
  const start = Math.max(0, from - LONGEST_LINE);
  const end = Math.min(text.length, from + LONGEST_LINE);
  const lengthUpTo = (offset: number) => secrets.mask(text, start, Math.min(offset, end)).length;
  return shortenExcerpt({
    ...place,
    text: secrets.mask(text, start, end),
    from: lengthUpTo(from),
    to: lengthUpTo(to),
  }, LONGEST_LINE);
}

function findPlace(positions: Positions, path: Path, start?: number, end?: number): SourceExcerpt {
  const source = positions.text(path);
  if (!source || start === undefined && !isBlock(source)) return excerptOf(positions.locate(path));
  const from = start ?? 0;
  return excerptOf({ source, start: from, end: end ?? (start ?? source.text.length) });
}

/** Whether a text is a block scalar, below its `|` or `>`. */
function isBlock({ origin }: Source): boolean {
  return origin !== undefined && /[|>]/.test(origin.source.text[origin.start] ?? "");
}

function hintOf(error: RunnerError, better?: string): { hint?: string } {
  const hint = better ?? error.hint;
  return hint === undefined ? {} : { hint };
}
