import { RunnerError } from "../../base/errors.ts";
import { type EncodedHistogram, Histogram } from "../../base/value/histogram.ts";
import type { Environment } from "../../host/host.ts";
import { pairsIn } from "../../secrets/secrets.ts";
import { BOUNDS } from "../files/prometheus.ts";
import type { Exporter, OpenExporter } from "../files/registry.ts";
import type { Change, Tool } from "../record.ts";
import { type Span, spansOf } from "./make_spans.ts";
import { type Endpoint, Sender } from "./sender.ts";

type Library = typeof import("@opentelemetry/otlp-transformer");
type ReadableSpan = Parameters<Library["ProtobufTraceSerializer"]["serializeRequest"]>[0][number];
type Metrics = Parameters<Library["ProtobufMetricsSerializer"]["serializeRequest"]>[0];
type Metric = Metrics["scopeMetrics"][number]["metrics"][number];

/** Numbers that OpenTelemetry has for kinds of spans, for states and for metrics. */
const KINDS = { internal: 0, server: 1, client: 2, producer: 3, consumer: 4 };
const [SAMPLED, UNSET, ERROR] = [1, 0, 2];
const [DOUBLE, HISTOGRAM, CUMULATIVE] = [1, 0, 1];

/** The metrics of load jobs, and what they are. */
const METRICS = {
  "runner.load.round.duration": "Times of rounds of a load job",
  "runner.load.step.duration": "Times of a step of a load job",
};

/** The times of the rounds of a load job, or of one of its steps. */
interface LoadTimes {
  readonly metric: keyof typeof METRICS;
  readonly attributes: Readonly<Record<string, string>>;
  /** Milliseconds since 1970. */
  readonly started: number;
  /** Milliseconds since 1970. */
  readonly ended: number;
  readonly times: EncodedHistogram;
}

/**
 * Sends spans, and the times of load jobs, to a collector by OTLP over HTTP.
 *
 * Source: https://opentelemetry.io/docs/specs/otel/protocol/exporter/
 */
export const openOtlp: OpenExporter = async (base, { env, clock }): Promise<Exporter> => {
  const [forTraces, forMetrics] = [
    readEndpoint("traces", base, env),
    readEndpoint("metrics", base, env),
  ];
  const library = await import("@opentelemetry/otlp-transformer");
  const ofTraces = forTraces?.isJson
    ? library.JsonTraceSerializer
    : library.ProtobufTraceSerializer;
  const ofMetrics = forMetrics?.isJson
    ? library.JsonMetricsSerializer
    : library.ProtobufMetricsSerializer;
  const form = new Form(env);
  const traces = forTraces && new Sender<Span>(forTraces, {
    noun: "span",
    encode: (spans) => ofTraces.serializeRequest(spans.map((span) => form.span(span))),
    refused: (answer) => {
      const { rejectedSpans, errorMessage } = ofTraces.deserializeResponse(answer).partialSuccess ??
        {};
      return { count: rejectedSpans, why: errorMessage };
    },
  }, clock);
  const metrics = forMetrics && new Sender<LoadTimes>(forMetrics, {
    noun: "histogram of load jobs",
    nouns: "histograms of load jobs",
    encode: (times) => ofMetrics.serializeRequest(form.metrics(times)),
    refused: (answer) => {
      const { rejectedDataPoints, errorMessage } =
        ofMetrics.deserializeResponse(answer).partialSuccess ?? {};
      return { count: rejectedDataPoints, why: errorMessage };
    },
  }, clock);
  return {
    take(change) {
      form.scope = change.run?.tool ?? form.scope;
      if (traces) { for (const span of spansOf(change)) traces.add(span); }
      if (metrics) { for (const times of timesOf(change)) metrics.add(times); }
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
};

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
  return {
    url,
    isJson,
    timeout: Number(read("TIMEOUT")) || 10_000,
    headers: {
      ...Object.fromEntries(pairsIn(read("HEADERS") ?? "")),
      "content-type": isJson ? "application/json" : "application/x-protobuf",
      "user-agent": "runner",
    },
  };
}

/** The histograms of a load job that is over. */
function* timesOf({ event, run, job }: Change): Iterable<LoadTimes> {
  if (event.type !== "job_finished" || !run || !job?.load?.end || !job.tally) return;
  const { load: { end: { stats } }, tally, started = event.time } = job;
  const attributes = { "runner.workflow": run.name, "runner.job": event.name };
  const span = { started, ended: event.time };
  if (tally.times) {
    yield { metric: "runner.load.round.duration", attributes, ...span, times: tally.times };
  }
  for (const { step, key } of stats.steps) {
    const times = tally.steps.find((one) => one.step === step)?.times;
    const ofStep = { ...attributes, "runner.step": key };
    if (times) yield { metric: "runner.load.step.duration", attributes: ofStep, ...span, times };
  }
}

/** Gives spans and metrics the form that the library reads. */
class Form {
  readonly #resource: Pick<ReadableSpan["resource"], "attributes">;
  scope: Tool = { name: "runner", version: "" };

  constructor(env: Environment) {
    const service = env.get("OTEL_SERVICE_NAME");
    const attributes = {
      "service.name": "runner",
      ...Object.fromEntries(pairsIn(env.get("OTEL_RESOURCE_ATTRIBUTES") ?? "")),
      ...service ? { "service.name": service } : {},
    };
    this.#resource = { attributes };
  }

  get #origin() {
    return this.#resource as ReadableSpan["resource"];
  }

  span({ name, kind, trace, started, duration, failure, attributes }: Span): ReadableSpan {
    const { id: traceId, span: spanId, parent } = trace;
    const none = { droppedAttributesCount: 0, droppedEventsCount: 0, droppedLinksCount: 0 };
    return {
      ...{ name, kind: KINDS[kind], attributes, links: [], events: [], ended: true, ...none },
      spanContext: () => ({ traceId, spanId, traceFlags: SAMPLED }),
      parentSpanContext: parent === undefined
        ? undefined
        : { traceId, spanId: parent, traceFlags: SAMPLED, isRemote: kind === "server" },
      startTime: timeOf(started),
      endTime: timeOf(started + duration),
      duration: timeOf(duration),
      status: failure === undefined ? { code: UNSET } : { code: ERROR, message: failure },
      resource: this.#origin,
      instrumentationScope: this.scope,
    };
  }

  metrics(all: readonly LoadTimes[]): Metrics {
    const metrics = Object.entries(METRICS).map(([name, description]): Metric => ({
      descriptor: { name, description, unit: "s", valueType: DOUBLE },
      aggregationTemporality: CUMULATIVE,
      dataPointType: HISTOGRAM,
      dataPoints: all.filter(({ metric }) => metric === name).map(pointOf),
    }));
    return { resource: this.#origin, scopeMetrics: [{ scope: this.scope, metrics }] };
  }
}

function pointOf({ attributes, started, ended, times }: LoadTimes) {
  const histogram = Histogram.decode(times);
  const { count } = histogram;
  const below = [...histogram.countsUpTo(BOUNDS), count];
  const counts = below.map((upTo, index) => upTo - (below[index - 1] ?? 0));
  const [min, max, sum] = [times.min, times.max, times.sum].map((time) => time / 1000);
  return {
    attributes,
    startTime: timeOf(started),
    endTime: timeOf(ended),
    value: {
      buckets: { boundaries: BOUNDS.map((bound) => bound / 1000), counts },
      count,
      min,
      max,
      sum,
    },
  };
}

/** Seconds and nanoseconds, to the microsecond. */
function timeOf(milliseconds: number): [number, number] {
  const microseconds = Math.round(milliseconds * 1000);
  return [Math.floor(microseconds / 1e6), microseconds % 1e6 * 1000];
}
