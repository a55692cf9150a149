import { RunnerError } from "../../base/errors.ts";
import { type EncodedHistogram, Histogram } from "../../base/value/histogram.ts";
import type { Environment, Host } from "../../host/host.ts";
import { pairsIn } from "../../secrets/secrets.ts";
import { BOUNDS, seconds } from "../files/prometheus.ts";
import type { Change, Tool } from "../record.ts";
import { type Span, spansOf } from "./make_spans.ts";
import { type Endpoint, Sender } from "./sender.ts";

type Library = typeof import("@opentelemetry/otlp-transformer");
type ReadableSpan = Parameters<Library["JsonTraceSerializer"]["serializeRequest"]>[0][number];
type Metrics = Parameters<Library["JsonMetricsSerializer"]["serializeRequest"]>[0];
type Point = ReturnType<typeof pointOf>;

/** Numbers that OpenTelemetry has for kinds of spans, for states and for metrics. */
const KINDS = { internal: 0, server: 1, client: 2, producer: 3, consumer: 4 };
const [SAMPLED, UNSET, ERROR] = [1, 0, 2];
const [DOUBLE, HISTOGRAM, CUMULATIVE] = [1, 0, 1];

/** The metrics of load jobs, and what they are. */
const METRICS = {
  "runner.load.round.duration": "Times of rounds of a load job",
  "runner.load.step.duration": "Times of a step of a load job",
};

/** Sends a report while the run goes on. */
export interface Exporter {
  take(change: Change): void;
  /** Sends the rest, within a few seconds; the result says what was not sent. */
  finish(): Promise<readonly RunnerError[]>;
  /** Gives up what was not sent. */
  discard(): void;
}

/**
 * Sends spans, and the times of load jobs, by OTLP over HTTP to a collector: at an address, or where
 * the variables of OpenTelemetry say. Throws RunnerError.
 *
 * Source: https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
export async function openOtlp(
  base: string | undefined,
  { env, clock }: Pick<Host, "env" | "clock">,
): Promise<Exporter> {
  const [toTraces, toMetrics] = (["traces", "metrics"] as const).map((signal) =>
    readEndpoint(signal, base, env)
  );
  const library = await import("@opentelemetry/otlp-transformer");
  const service = env.get("OTEL_SERVICE_NAME");
  const attributes = {
    "service.name": "runner",
    ...Object.fromEntries(pairsIn(env.get("OTEL_RESOURCE_ATTRIBUTES") ?? "")),
    ...service && { "service.name": service },
  };
  const resource = { attributes } as unknown as ReadableSpan["resource"];
  let scope: Tool = { name: "runner", version: "" };
  const traces = toTraces && new Sender(toTraces, {
    noun: "span",
    serializer: toTraces.isJson ? library.JsonTraceSerializer : library.ProtobufTraceSerializer,
    make: (spans: readonly Span[]) =>
      spans.map((span) => ({ ...readable(span), resource, instrumentationScope: scope })),
  }, clock);
  const metrics = toMetrics && new Sender(toMetrics, {
    noun: "histogram",
    serializer: toMetrics.isJson
      ? library.JsonMetricsSerializer
      : library.ProtobufMetricsSerializer,
    make: (points: readonly Point[]) => ({
      resource,
      scopeMetrics: [{ scope, metrics: metricsOf(points) }],
    }),
  }, clock);
  return {
    take(change) {
      scope = change.run?.tool ?? scope;
      if (traces) { for (const span of spansOf(change)) traces.add(span); }
      if (metrics) { for (const point of pointsOf(change)) metrics.add(point); }
    },
    async finish() {
      const problems = await Promise.all([traces?.finish(), metrics?.finish()]);
      return problems.filter((problem) => problem !== undefined);
    },
    discard() {
      traces?.discard();
      metrics?.discard();
    },
  };
}

/** Where a signal is sent by the options and the variables, if anywhere. Throws RunnerError. */
function readEndpoint(
  signal: "traces" | "metrics",
  base: string | undefined,
  env: Environment,
): Endpoint & { readonly isJson: boolean } | undefined {
  const own = (name: string) => env.get(`OTEL_EXPORTER_OTLP_${signal.toUpperCase()}_${name}`);
  const read = (name: string) => own(name) || env.get(`OTEL_EXPORTER_OTLP_${name}`);
  const whole = base === undefined && own("ENDPOINT");
  const written = whole || (base ?? env.get("OTEL_EXPORTER_OTLP_ENDPOINT"));
  if (!written) return undefined;
  const url = URL.parse(written);
  if (!url || !/^https?:$/.test(url.protocol)) {
    const hint = "write an address such as http://localhost:4318";
    throw new RunnerError(`cannot send ${signal}: invalid address "${written}"`, hint);
  }
  if (!whole) url.pathname = url.pathname.replace(/\/*$/, `/v1/${signal}`);
  const protocol = read("PROTOCOL") || "http/protobuf";
  if (protocol !== "http/protobuf" && protocol !== "http/json") {
    throw new RunnerError(
      `cannot send ${signal}: the protocol "${protocol}" of OTLP is not supported`,
      "set OTEL_EXPORTER_OTLP_PROTOCOL to http/protobuf or http/json, and the address to its port",
    );
  }
  const isJson = protocol === "http/json";
  const headers = {
    ...Object.fromEntries(pairsIn(read("HEADERS") ?? "")),
    "content-type": isJson ? "application/json" : "application/x-protobuf",
  };
  return { url, isJson, headers, timeout: Number(read("TIMEOUT")) || 10_000 };
}

/** A span as the library reads it. */
function readable({ name, kind, trace, started, duration, failure, attributes }: Span) {
  const { id: traceId, span: spanId, parent } = trace;
  return {
    ...{ name, kind: KINDS[kind], attributes, links: [], events: [], ended: true },
    ...{ droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 },
    spanContext: () => ({ traceId, spanId, traceFlags: SAMPLED }),
    parentSpanContext: parent ? { traceId, spanId: parent, traceFlags: SAMPLED } : undefined,
    startTime: timeOf(started),
    endTime: timeOf(started + duration),
    duration: timeOf(duration),
    status: failure === undefined ? { code: UNSET } : { code: ERROR, message: failure },
  };
}

function metricsOf(points: readonly Point[]): Metrics["scopeMetrics"][number]["metrics"] {
  return Object.entries(METRICS).map(([name, description]) => ({
    descriptor: { name, description, unit: "s", valueType: DOUBLE },
    aggregationTemporality: CUMULATIVE,
    dataPointType: HISTOGRAM,
    dataPoints: points.filter(({ metric }) => metric === name),
  }));
}

/** The times of the rounds of a load job that is over, and those of its steps. */
function* pointsOf({ event, run, job }: Change): Iterable<Point> {
  if (event.type !== "job_finished" || !run || !job?.load?.end || !job.tally) return;
  const { load: { end: { stats } }, tally, started = event.time } = job;
  const attributes = { "runner.workflow": run.name, "runner.job": event.name };
  const span = [started, event.time] as const;
  if (tally.times) yield pointOf("runner.load.round.duration", attributes, span, tally.times);
  for (const { step, key } of stats.steps) {
    const times = tally.steps.find((one) => one.step === step)?.times;
    const ofStep = { ...attributes, "runner.step": key };
    if (times) yield pointOf("runner.load.step.duration", ofStep, span, times);
  }
}

function pointOf(
  metric: keyof typeof METRICS,
  attributes: Record<string, string>,
  [started, ended]: readonly [number, number],
  encoded: EncodedHistogram,
) {
  const histogram = Histogram.decode(encoded);
  const { count } = histogram;
  const below = [...histogram.countsUpTo(BOUNDS), count];
  const counts = below.map((upTo, index) => upTo - (below[index - 1] ?? 0));
  const boundaries = BOUNDS.map(seconds);
  const [min, max, sum] = [encoded.min, encoded.max, encoded.sum].map(seconds);
  return {
    ...{ metric, attributes, startTime: timeOf(started), endTime: timeOf(ended) },
    value: { buckets: { boundaries, counts }, count, min: min!, max: max!, sum: sum! },
  };
}

/** Seconds and nanoseconds, to the microsecond. */
function timeOf(milliseconds: number): [number, number] {
  const microseconds = Math.round(milliseconds * 1000);
  return [Math.floor(microseconds / 1e6), microseconds % 1e6 * 1000];
}
