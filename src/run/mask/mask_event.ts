import { assertNever } from "../../source/errors.ts";
import { maskExcerpt } from "../../source/source.ts";
import type { Masker } from "../../value/masker.ts";
import { isDict, type Value } from "../../value/value.ts";
import type { Attempt, Failure, Operand, PassedTest, RunEvent, StepResult } from "../event.ts";

type Mask = (text: string) => string;

/** The fields that hold any text; those that hold one of a few words are no such fields. */
type TextField<T> = {
  [K in keyof T]-?: string extends NonNullable<T[K]> ? K : never;
}[keyof T];

/**
 * An event with every secret taken out of its texts. What gives an event its shape is left as it
 * is, ids and words like `failed`: a variable may hold such a word by chance. Exchanges
 * were masked when they were cut.
 *
 * What holds no secret is not copied, which is nearly every event.
 */
export function maskEvent(event: RunEvent, masker: Masker): RunEvent {
  const mask = (text: string) => masker.mask(text);
  switch (event.type) {
    case "run_started": {
      const jobs = maskEach(event.jobs, (job) => {
        const steps = maskEach(job.steps, (step) => {
          const texts = maskTexts(step, ["name"], mask);
          return step.place
            ? replace(texts, "place", maskTexts(step.place, ["file"], mask))
            : texts;
        });
        return replace(maskTexts(job, ["name"], mask), "steps", steps);
      });
      return replace(maskTexts(event, ["name", "description", "file"], mask), "jobs", jobs);
    }
    case "job_started":
    case "step_started":
      return maskTexts(event, ["name"], mask);
    case "step_waiting":
    case "round_finished":
      return event;
    case "step_retried":
      return replace(event, "attempt", maskAttempt(event.attempt, mask));
    case "step_finished":
      return replace(event, "result", maskResult(event.result, mask));
    case "job_finished": {
      const failures = maskEach(event.failures, (failure) => maskFailure(failure, mask));
      return replace(maskTexts(event, ["name", "reason"], mask), "failures", failures);
    }
    case "run_finished":
      return maskTexts(event, ["interrupted"], mask);
    case "note":
      return maskTexts(
        event,
        ["text"],
        event.level === "warning" ? (text) => cutText(mask(text), LONGEST_WARNING) : mask,
      );
    default:
      return assertNever(event);
  }
}

/** A program may fail with a message of megabytes. */
const LONGEST_MESSAGE = 10_000;

const LONGEST_WARNING = 500;

/** The first part of a text, up to the end of a line where one is near. */
function cutText(text: string, longest: number): string {
  if (text.length <= longest) return text;
  const line = text.lastIndexOf("\n", longest);
  const end = line > longest / 2 ? line : longest;
  return `${text.slice(0, end)}… (${text.length - end} more characters)`;
}

function maskResult(result: StepResult, mask: Mask): StepResult {
  const texts = maskTexts(result, ["name", "echo", "untested", "reason"], mask);
  const attempts = maskEach(result.attempts, (attempt) => maskAttempt(attempt, mask));
  const failures = maskEach(result.failures, (failure) => maskFailure(failure, mask));
  const masked = replace(replace(texts, "attempts", attempts), "failures", failures);
  return result.test ? replace(masked, "test", maskTest(result.test, mask)) : masked;
}

function maskTest(test: PassedTest, mask: Mask): PassedTest {
  const operands = maskOperands(test.operands, mask);
  return replace(maskTexts(test, ["expression"], mask), "operands", operands);
}

function maskOperands(operands: readonly Operand[], mask: Mask): readonly Operand[] {
  return maskEach(
    operands,
    (operand) =>
      replace(maskTexts(operand, ["text"], mask), "value", maskValue(operand.value, mask)),
  );
}

/** Masked when it was made, but not what an `echo` has made a secret since then. */
function maskValue(value: Value, mask: Mask): Value {
  if (typeof value === "string") return mask(value);
  if (Array.isArray(value)) return maskEach(value, (item) => maskValue(item, mask));
  if (!isDict(value)) return value;
  let masked = value;
  for (const [key, field] of Object.entries(value)) {
    masked = replace(masked, key, maskValue(field, mask));
  }
  return masked;
}

function maskAttempt(attempt: Attempt, mask: Mask): Attempt {
  return maskTexts(attempt, ["message"], (text) => cutText(mask(text), LONGEST_MESSAGE));
}

function maskFailure(failure: Failure, mask: Mask): Failure {
  const maskMessage = (text: string) => cutText(mask(text), LONGEST_MESSAGE);
  const messages = maskTexts(failure, ["message", "hint"], maskMessage);
  let masked = maskTexts(messages, ["field", "expression"], mask);
  const { place, operands, difference } = failure;
  if (place) masked = replace(masked, "place", maskExcerpt(place, mask));
  if (operands) masked = replace(masked, "operands", maskOperands(operands, mask));
  if (difference) {
    const { lines } = difference;
    const texts = maskTexts(difference, ["left", "right"], mask);
    masked = replace(masked, "difference", replace(texts, "lines", maskEach(lines, mask)));
  }
  return masked;
}

function maskTexts<T>(part: T, fields: readonly TextField<T>[], mask: Mask): T {
  let masked = part;
  for (const field of fields) {
    const text = part[field];
    if (typeof text === "string") masked = replace(masked, field, mask(text) as typeof text);
  }
  return masked;
}

function maskEach<T>(parts: readonly T[], maskPart: (part: T) => T): readonly T[] {
  let masked: T[] | undefined;
  for (const [index, part] of parts.entries()) {
    const other = maskPart(part);
    if (other !== part) (masked ??= [...parts])[index] = other;
  }
  return masked ?? parts;
}

function replace<T, K extends keyof T>(part: T, field: K, value: T[K]): T {
  return part[field] === value ? part : { ...part, [field]: value };
}
