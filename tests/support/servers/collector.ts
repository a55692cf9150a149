import { createRequire } from "node:module";

/** The official definitions of OTLP, which a package of npm has as code. */
const DEFINITIONS = "otlp-definitions/build/src/generated/root.js";

/** A span as the definitions have it, in JSON: ids in hexadecimal, times in nanoseconds. */
export interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId: string;
  readonly name: string;
  readonly kind: string;
  readonly start: bigint;
  readonly end: bigint;
  readonly failed: boolean;
  readonly message: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  readonly resource: Readonly<Record<string, unknown>>;
}

/** A request that a collector has received. */
interface ReceivedRequest {
  readonly path: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** A collector of OpenTelemetry, which takes everything unless `answer` says otherwise. */
export interface Collector {
  readonly url: string;
  readonly requests: readonly ReceivedRequest[];
  spans(): ReceivedSpan[];
  /** The metrics as plain data. */
  metrics(): Record<string, unknown>[];
}

type Answer = (request: Request, count: number) => Response | undefined | Promise<Response>;

/** Passes a collector to `use`, and closes it at the end. */
export async function withCollector<T>(
  use: (collector: Collector) => Promise<T>,
  answer: Answer = () => undefined,
): Promise<T> {
  const requests: ReceivedRequest[] = [];
  const [spans, metrics]: [ReceivedSpan[], Record<string, unknown>[]] = [[], []];
  const types = loadTypes();
  const stop = new AbortController();
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, signal: stop.signal, onListen: () => {} },
    async (request) => {
      const { pathname: path } = new URL(request.url);
      const body = await request.bytes();
      requests.push({ path, headers: request.headers, body });
      const answered = await answer(request, requests.length);
      if (answered) return answered;
      if (path.endsWith("/v1/traces")) spans.push(...types.spansIn(request.headers, body));
      if (path.endsWith("/v1/metrics")) metrics.push(...types.metricsIn(request.headers, body));
      return new Response(new Uint8Array());
    },
  );
  try {
    return await use({
      url: `http://127.0.0.1:${server.addr.port}`,
      requests,
      spans: () => spans,
      metrics: () => metrics,
    });
  } finally {
    stop.abort();
    await server.finished.catch(() => {});
  }
}

// deno-lint-ignore no-explicit-any -- messages of definitions that are read when the test runs
type Message = any;

/** Reads requests by the official definitions. */
function loadTypes() {
  const require = createRequire(new URL("../../tools/package.json", import.meta.url));
  const { trace, metrics } = require(DEFINITIONS).opentelemetry.proto.collector;
  const read = (type: Message, headers: Headers, body: Uint8Array): Message => {
    if (headers.get("content-type") === "application/json") {
      return type.toObject(
        type.fromObject(withBytes(JSON.parse(new TextDecoder().decode(body))) as object),
        FORM,
      );
    }
    return type.toObject(type.decode(body), FORM);
  };
  return {
    spansIn: (headers: Headers, body: Uint8Array): ReceivedSpan[] =>
      read(trace.v1.ExportTraceServiceRequest, headers, body).resourceSpans.flatMap(
        ({ resource, scopeSpans }: Message) =>
          scopeSpans.flatMap(({ spans }: Message) =>
            spans.map((span: Message) => spanOf(span, plain(resource.attributes)))
          ),
      ),
    metricsIn: (headers: Headers, body: Uint8Array): Record<string, unknown>[] =>
      read(metrics.v1.ExportMetricsServiceRequest, headers, body).resourceMetrics.flatMap(
        ({ scopeMetrics }: Message) => scopeMetrics.flatMap(({ metrics }: Message) => metrics),
      ),
  };
}

const FORM = { longs: String, enums: String, bytes: Array, defaults: true, oneofs: true };

/** JSON of OTLP has ids in hexadecimal, unlike other JSON of protobuf. */
function withBytes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withBytes);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, field]) => [
      key,
      /^(?:traceId|spanId|parentSpanId)$/.test(key)
        ? Uint8Array.fromHex(String(field))
        : withBytes(field),
    ]),
  );
}

function spanOf(span: Message, resource: Record<string, unknown>): ReceivedSpan {
  const [traceId, spanId, parentSpanId] = [span.traceId, span.spanId, span.parentSpanId].map((id) =>
    Uint8Array.from(id).toHex()
  );
  return {
    ...{ traceId: traceId!, spanId: spanId!, parentSpanId: parentSpanId! },
    name: span.name,
    kind: span.kind.replace("SPAN_KIND_", "").toLowerCase(),
    start: BigInt(span.startTimeUnixNano),
    end: BigInt(span.endTimeUnixNano),
    failed: span.status.code === "STATUS_CODE_ERROR",
    message: span.status.message,
    attributes: plain(span.attributes),
    resource,
  };
}

/** Attributes as plain data. */
export function plain(attributes: Message): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }: Message) => [
      key,
      value.value === "intValue" ? Number(value.intValue) : value[value.value],
    ]),
  );
}
