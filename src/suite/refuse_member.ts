import { makeSecretMask } from "../check/mask_secrets.ts";
import type { Failure, RunEvent, RunFinished, SuitePart } from "../run/event.ts";
import { noSteps } from "../run/count_steps.ts";
import type { LoadError } from "../base/errors.ts";
import { excerptOf } from "../base/source.ts";
import { maskExcerpt } from "../base/source.ts";
import type { Masker } from "../secrets/masker.ts";
import type { RefusedMember } from "./suite.ts";

/** The job that represents a workflow that cannot be loaded. */
const JOB = { id: "load", name: "Load the workflow", needs: [], steps: [] };

const NOTHING = { passed: 0, failed: 0, skipped: 0 };

/**
 * The events of a workflow that cannot be loaded: one failed job with all that is wrong with the
 * file, or one that was skipped, where nothing runs any more.
 */
export function* refusalEvents(
  { path, refusal }: RefusedMember,
  suite: SuitePart,
  time: number,
  secrets: Masker,
  skipped?: string,
): Iterable<RunEvent> {
  const runId = crypto.randomUUID();
  const state = skipped === undefined ? "failed" : "skipped";
  yield { type: "run_started", runId, time, name: path, file: path, suite, jobs: [JOB] };
  yield {
    type: "job_finished",
    runId,
    time,
    job: JOB.id,
    name: JOB.name,
    state,
    duration: 0,
    ...skipped === undefined ? {} : { reason: skipped },
    failures: skipped === undefined ? failuresOf(refusal, secrets) : [],
  };
  const finished: RunFinished = {
    type: "run_finished",
    runId,
    time,
    duration: 0,
    state: "failed",
    jobs: { ...NOTHING, [state]: 1 },
    steps: noSteps(),
    untestedFailures: 0,
    flaky: 0,
  };
  yield finished;
}

function failuresOf({ message, hint, diagnostics }: LoadError, secrets: Masker): Failure[] {
  const mask = makeSecretMask(secrets, diagnostics);
  const errors = diagnostics.filter(({ severity }) => severity === "error");
  if (errors.length === 0) {
    return [{ kind: "load", field: "", message: mask(message), ...hinted(hint, mask) }];
  }
  return errors.map(({ message, hint, span }) => ({
    kind: "load",
    field: "",
    message: mask(message),
    ...hinted(hint, mask),
    ...span ? { place: maskExcerpt(excerptOf(span), mask) } : {},
  }));
}

function hinted(hint: string | undefined, mask: (text: string) => string) {
  return hint === undefined ? {} : { hint: mask(hint) };
}
