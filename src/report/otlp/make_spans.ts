import type { Position } from "../../base/source.ts";
import type {
  Attempt,
  MessagesCame,
  StepFinished,
  StepOutline,
  StepResult,
  TraceContext,
} from "../../run/event.ts";
import { hasFailed } from "../../run/step_trees.ts";
import type { Change } from "../record.ts";
import { type Attributes, describeAttempt, type SpanKind } from "./conventions.ts";

/** A span that is over, before it is made one of OpenTelemetry. */
export interface Span {
  readonly name: string;
  readonly kind: SpanKind;
  readonly trace: Pick<TraceContext, "id" | "span" | "parent">;
  /** Milliseconds since 1970. */
  readonly started: number;
  /** Milliseconds. */
  readonly duration: number;
  /** Why it failed; empty where that is not known, undefined where it did not fail. */
  readonly failure?: string | undefined;
  readonly attributes: Attributes;
}

/** The spans that an event ends; none where the run is not traced. */
export function spansOf({ event, run, job }: Change): readonly Span[] {
  switch (event.type) {
    case "step_finished":
      return stepSpans(event, job?.outline[event.run.step]?.place);
    case "messages_came":
      return messageSpans(event, job?.outline[event.run.step]);
    case "round_traced": {
      const { trace, state, started, duration, steps, round } = event;
      const failure = state === "failed" ? "" : undefined;
      const attributes = { "runner.job.id": event.job, "runner.round": round };
      const { name = event.job, outline = [] } = job ?? {};
      return [
        { name, kind: "internal", trace, started, duration, failure, attributes },
        ...steps.flatMap((step) => stepSpans(step, outline[step.run.step]?.place)),
      ];
    }
    case "job_finished": {
      const { trace, started = event.time } = job ?? {};
      if (!trace) return [];
      const { name, duration, state, failures: [first] } = event;
      const failure = state === "failed" ? first?.message ?? "" : undefined;
      const attributes = { "runner.job.id": event.job, "runner.state": state };
      return [{ name, kind: "internal", trace, started, duration, failure, attributes }];
    }
    case "run_finished": {
      if (!run?.trace) return [];
      const { name, file, trace, started } = run;
      const { duration, state, interrupted = "" } = event;
      const attributes = {
        "runner.file": file,
        "runner.run.id": run.id,
        "test.suite.name": name,
        "test.suite.run.status": state === "failed" ? "failure" : "success",
      };
      const failure = state === "failed" ? interrupted : undefined;
      return [{ name, kind: "internal", trace, started, duration, failure, attributes }];
    }
    default:
      return [];
  }
}

/** A step, and each of its attempts within it. */
function stepSpans(
  { run, result }: Pick<StepFinished, "run" | "result">,
  outlined: Position | undefined,
): readonly Span[] {
  const { name, uses, trace, state, started, duration, attempts, failures: [first] } = result;
  if (!trace?.sampled || state === "skipped") return [];
  const place = result.place ?? (run.within ? undefined : outlined);
  const failure = hasFailed(result) ? first?.message ?? "" : undefined;
  const attributes = {
    "runner.uses": uses,
    "test.case.name": name,
    "test.case.result.status": failure === undefined ? "pass" : "fail",
    ...place && { "code.file.path": place.file, "code.line.number": place.line },
    ...run.round !== undefined && { "runner.round": run.round },
    ...run.entry !== undefined && { "runner.entry": run.entry },
  };
  return [
    { name, kind: "internal", trace, started, duration, failure, attributes },
    ...attempts.map((attempt) => attemptSpan(attempt, attempt === attempts.at(-1), result, trace)),
  ];
}

function attemptSpan(
  { number, span = "", started, duration, outcome, message, detail }: Attempt,
  isLast: boolean,
  { uses, exchange }: StepResult,
  { id, span: parent }: TraceContext,
): Span {
  const { name, kind, attributes } = describeAttempt(uses, isLast ? exchange : detail?.exchange);
  const failure = outcome === "passed" ? undefined : message ?? "";
  if (failure !== undefined) {
    // The code of an error of the system: (ECONNREFUSED).
    const [, code = "_OTHER"] = /\((E[A-Z\d_]+)\)/.exec(failure) ?? [];
    const status = Number(attributes["http.response.status_code"] ?? 0);
    attributes["error.type"] = status >= 400 ? String(status) : code;
  }
  if (number > 1) attributes["runner.attempt"] = number;
  return { name, kind, trace: { id, span, parent }, started, duration, failure, attributes };
}

/** What came to a step that stayed open, as part of the traces of those who sent it. */
function messageSpans({ run, messages }: MessagesCame, step: StepOutline | undefined): Span[] {
  const { name = run.id ?? "message", uses = "listen" } = step ?? {};
  const kind = uses === "listen" ? "server" : "consumer";
  return messages.flatMap(({ time, trace }) => {
    if (!trace) return [];
    return [{ name, kind, trace, started: time, duration: 0, attributes: { "runner.uses": uses } }];
  });
}
