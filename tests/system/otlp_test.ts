import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { denoHost } from "../../src/host/deno_host.ts";
import type { Clock } from "../../src/host/host.ts";
import { describeAttempt } from "../../src/report/otlp/conventions.ts";
import { assertPassed } from "../support/assert_passed.ts";
import { withRig } from "../support/run/rig.ts";
import { runMain } from "../support/run/run_main.ts";
import { type Collector, type ReceivedSpan, withCollector } from "../support/servers/collector.ts";
import { freePort } from "../support/servers/free_port.ts";
import { withFiles } from "../support/temp_dir.ts";

const HELLO = "name: w\njobs: [{ id: j, name: j, steps: [{ uses: hello }] }]\n";

/** A real clock with shorter timers, and the times that these were to take. */
function quickClock(shorten: (milliseconds: number) => number) {
  const { clock } = denoHost();
  const timers: number[] = [];
  const quick: Clock = {
    now: () => clock.now(),
    ticks: () => clock.ticks(),
    after(milliseconds, callback) {
      timers.push(milliseconds);
      return clock.after(shorten(milliseconds), callback);
    },
  };
  return { timers, clock: quick };
}

/** No pause between two attempts. */
const withoutPauses = (milliseconds: number) => milliseconds < 5000 ? 1 : milliseconds;

interface Sent {
  readonly files?: Readonly<Record<string, string>>;
  readonly args?: readonly string[];
  readonly env?: (url: string) => Readonly<Record<string, string>>;
  readonly clock?: Clock;
}

/** Runs `w.yml` with a collector; `{url}` is the address of a rig. */
async function send(
  collector: Collector,
  { files = { "w.yml": HELLO }, args = ["w.yml"], env = () => ({}), clock }: Sent = {},
) {
  const variables = env(collector.url);
  const sent = Object.keys(variables).some((name) => name.endsWith("ENDPOINT"))
    ? []
    : ["--report", `otlp=${collector.url}`];
  return await withRig((rig) =>
    withFiles(
      Object.fromEntries(
        Object.entries(files).map(([name, text]) => [name, text.replaceAll("{url}", rig.url)]),
      ),
      async (cwd) => {
        const given = ["--no-check", ...sent, "--report", "ndjson=events.ndjson", ...args];
        const result = await runMain(given, { cwd, env: variables }, clock && { clock });
        const text = Deno.readTextFileSync(`${cwd}/events.ndjson`);
        return { ...result, events: text.trim().split("\n").map((line) => JSON.parse(line)) };
      },
    )
  );
}

const SHOP = `name: Shop
jobs:
  - id: j
    name: Orders
    steps:
      - { name: missing, uses: http, with: { get: "{url}/status/404" }, test: res.code == 404 }
      - { name: wrong, uses: http, with: { get: "{url}/status/500?a=1" }, test: res.code == 200 }
      - name: again
        uses: http
        with: { get: "{url}/flaky/a/2" }
        retry: { max_attempts: 3, interval: 1ms, until: res.code == 200 }
      - { name: ask, uses: db, with: { dsn: ":memory:", query: "SELECT 1 AS a" } }
      - { name: away, uses: redis, with: { url: "redis://127.0.0.1:1", command: [GET, a] } }
      - { name: part, uses: embedded, with: { path: part.yml } }
      - { name: skipped, uses: hello, skipif: "true" }
    finally:
      - { name: clean, uses: http, with: { delete: "{url}/a" } }
`;
const PART = `name: Part
steps: [{ name: inner, uses: http, with: { post: "{url}/b" } }]
`;

/** A span as a line: its kind, its name, and `!` where it failed. */
function lineOf({ kind, name, failed }: ReceivedSpan): string {
  return `${kind} ${name}${failed ? " !" : ""}`;
}

/** The spans as a tree, by their parents. */
function treeOf(spans: readonly ReceivedSpan[], parent = "", depth = 0): string[] {
  return spans.filter(({ parentSpanId }) => parentSpanId === parent).flatMap((span) => [
    "  ".repeat(depth) + lineOf(span),
    ...treeOf(spans, span.spanId, depth + 1),
  ]);
}

for (const protocol of ["", "http/protobuf", "http/json"]) {
  Deno.test(`--report otlp sends the spans of run, job, step and attempt: ${protocol || "default"}`, async () => {
    await withCollector(async (collector) => {
      const files = { "w.yml": SHOP, "part.yml": PART };
      const env = () => ({ OTEL_EXPORTER_OTLP_PROTOCOL: protocol });
      const { events, stderr } = await send(collector, { files, env });
      assertEquals(stderr, "");
      const spans = collector.spans();
      assertEquals(treeOf(spans), [
        "internal Shop !",
        "  internal Orders !",
        "    internal missing",
        "      client GET",
        "    internal wrong !",
        "      client GET !",
        "    internal again",
        "      client GET !",
        "      client GET",
        "    internal ask",
        "      client SELECT",
        "    internal away !",
        "      client redis !",
        "    internal part",
        "      internal embedded",
        "        internal inner",
        "          client POST",
        "    internal cleanup: clean",
        "      client DELETE",
      ]);
      assertEquals(new Set(spans.map(({ traceId }) => traceId)).size, 1);
      const type = protocol === "http/json" ? "application/json" : "application/x-protobuf";
      for (const { path, headers } of collector.requests) {
        assertEquals([path, headers.get("content-type")], ["/v1/traces", type]);
      }
      // To the microsecond as the events have them.
      for (const { type, result } of events) {
        if (type !== "step_finished" || result.state === "skipped") continue;
        const { trace, attempts } = result;
        for (const { started, duration, span } of [{ ...result, ...trace }, ...attempts]) {
          const sent = spans.find(({ spanId }) => spanId === span)!;
          const times = [started, started + duration].map((time) => Math.round(time * 1000));
          assertEquals([sent.start, sent.end].map((time) => Number(time / 1000n)), times);
        }
      }
      const [missing, wrong] = spans.filter(({ kind }) => kind === "client");
      assertEquals(missing!.attributes["http.response.status_code"], 404);
      assertEquals(missing!.attributes["error.type"], undefined);
      const { "url.full": url, "server.port": port, ...attributes } = wrong!.attributes;
      assertMatch(String(url), /^http:\/\/127\.0\.0\.1:\d+\/status\/500\?a=1$/);
      assertStringIncludes(String(url), `:${port}/`);
      assertEquals(attributes, {
        "http.request.method": "GET",
        "http.response.status_code": 500,
        "network.protocol.version": "1.1",
        "server.address": "127.0.0.1",
        "error.type": "500",
      });
      const ask = spans.find(({ name }) => name === "SELECT")!;
      assertEquals(ask.attributes, {
        "db.system.name": "sqlite",
        "db.operation.name": "SELECT",
        "db.query.text": "SELECT 1 AS a",
        "db.namespace": ":memory:",
      });
      const away = spans.find(({ name }) => name === "redis")!;
      assertEquals(away.attributes, { "db.system.name": "redis", "error.type": "ECONNREFUSED" });
    });
  });
}

Deno.test("attempts are described by the conventions for RPC, databases and messages", () => {
  const described = [
    ["grpc", { addr: "[::1]:50051", service: "shop.Orders", method: "Get" }, {
      code: 5,
      status_code: "NOT_FOUND",
    }],
    ["db", { driver: "postgres", dsn: "postgres://u:***@db:5433/shop", query: "select 1" }, {
      error_code: "23505",
    }],
    ["redis", { url: "redis://cache:6379/0", command: ["GET", "a"] }, { error_code: "" }],
    ["kafka", { brokers: ["one:9092", "two:9092"], publish: "orders" }, {}],
    ["amqp", { url: "amqp://mq:5672", get: "jobs" }, {}],
    ["mqtt", { url: "mqtt://mq:1883", subscribe: "a/b" }, {}],
    ["nats", { url: "nats://mq:4222", request: "orders.total" }, {}],
    ["shell", { script: "ls" }, {}],
  ] as const;
  const lines = described.map(([uses, req, res]) => {
    const { kind, name, attributes } = describeAttempt(uses, { req, res });
    const values = Object.entries(attributes).map(([key, value]) => `${key}=${value}`);
    return [`${kind} ${name}`, ...values].join("\n  ");
  });
  assertEquals(
    lines.join("\n"),
    `client shop.Orders/Get
  rpc.system.name=grpc
  rpc.method=shop.Orders/Get
  rpc.status_code=NOT_FOUND
  server.address=::1
  server.port=50051
client SELECT
  db.system.name=postgresql
  db.operation.name=SELECT
  db.query.text=select 1
  db.namespace=shop
  db.response.status_code=23505
  server.address=db
  server.port=5433
client GET
  db.system.name=redis
  db.operation.name=GET
  server.address=cache
  server.port=6379
producer publish orders
  messaging.system.name=kafka
  messaging.operation.name=publish
  messaging.operation.type=send
  messaging.destination.name=orders
  server.address=one
  server.port=9092
consumer get jobs
  messaging.system.name=rabbitmq
  messaging.operation.name=get
  messaging.operation.type=receive
  messaging.destination.name=jobs
  server.address=mq
  server.port=5672
consumer subscribe a/b
  messaging.system.name=mqtt
  messaging.operation.name=subscribe
  messaging.operation.type=receive
  messaging.destination.name=a/b
  server.address=mq
  server.port=1883
producer request orders.total
  messaging.system.name=nats
  messaging.operation.name=request
  messaging.operation.type=send
  messaging.destination.name=orders.total
  server.address=mq
  server.port=4222
internal shell`,
  );
});

const LOAD = `name: w
jobs:
  - id: l
    name: l
    load: { users: 2, count: 250 }
    steps:
      - { name: first, uses: http, with: { get: "{url}/a" } }
      - { name: second, uses: hello }
`;

Deno.test("of a load job, one round in a hundred is sent, and the histograms of all", async () => {
  await withCollector(async (collector) => {
    const result = await send(collector, { files: { "w.yml": LOAD } });
    assertPassed(result.stdout);
    const spans = collector.spans();
    const rounds = spans.filter(({ attributes }) => attributes["runner.round"] !== undefined);
    const roots = rounds.filter(({ parentSpanId }) => parentSpanId === "");
    assertEquals(roots.map((span) => span.attributes["runner.round"]), [0, 100, 200]);
    for (const { traceId } of roots) {
      const lines = treeOf(spans.filter((span) => span.traceId === traceId));
      assertEquals(lines.map((line) => line.trim().split(" ")[1]), [
        ...["l", "first", "http", "second", "hello"],
      ]);
    }
    assertEquals(spans.length, 2 + 3 * 5);
    const metrics = collector.metrics() as {
      readonly name: string;
      readonly unit: string;
      readonly histogram: {
        readonly aggregationTemporality: string;
        readonly dataPoints: readonly {
          readonly count: string;
          readonly sum: number;
          readonly bucketCounts: readonly string[];
          readonly explicitBounds: readonly number[];
          readonly attributes: readonly { readonly value: { readonly stringValue: string } }[];
        }[];
      };
    }[];
    assertEquals(metrics.map(({ name, unit }) => [name, unit]), [
      ["runner.load.round.duration", "s"],
      ["runner.load.step.duration", "s"],
    ]);
    const points = metrics.flatMap(({ histogram }) => {
      assertEquals(histogram.aggregationTemporality, "AGGREGATION_TEMPORALITY_CUMULATIVE");
      return histogram.dataPoints;
    });
    assertEquals(
      points.map(({ attributes }) => attributes.map(({ value }) => value.stringValue).join()),
      ["w,l", "w,l,first", "w,l,second"],
    );
    for (const { count, sum, bucketCounts, explicitBounds } of points) {
      assertEquals(Number(count), 250);
      assert(sum >= 0);
      assertEquals(bucketCounts.length, explicitBounds.length + 1);
      assertEquals(bucketCounts.reduce((all, one) => all + Number(one), 0), 250);
    }
  });
});

Deno.test("the variables of OpenTelemetry say where spans go, and as what", async () => {
  await withCollector(async (collector) => {
    const env = (url: string) => ({
      OTEL_EXPORTER_OTLP_ENDPOINT: `${url}/base/`,
      OTEL_EXPORTER_OTLP_HEADERS: "x-key=first, x-other=a%20b%2Cc",
      OTEL_EXPORTER_OTLP_METRICS_HEADERS: "x-key=second",
      OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: `${url}/as-it-is`,
      OTEL_RESOURCE_ATTRIBUTES: "service.name=other,deployment.environment.name=stage",
      OTEL_SERVICE_NAME: "shop-tests",
    });
    assertEquals((await send(collector, { files: { "w.yml": LOAD }, env })).code, 0);
    const requests = collector.requests.map(({ path, headers }) => [
      path,
      headers.get("x-key"),
      headers.get("x-other"),
    ]);
    assertEquals(
      new Set(requests.map((one) => one.join(" "))),
      new Set([
        "/base/v1/traces first a b,c",
        "/as-it-is second ",
      ]),
    );
    assertEquals(collector.spans()[0]!.resource, {
      "service.name": "shop-tests",
      "deployment.environment.name": "stage",
    });
  });
});

Deno.test("what an option sends goes to its address alone", async () => {
  await withCollector(async (collector) => {
    await withCollector(async (other) => {
      const args = ["--report", `otlp=${other.url}`, "w.yml"];
      const env = (url: string) => ({
        OTEL_EXPORTER_OTLP_ENDPOINT: url,
        OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/own`,
      });
      assertEquals((await send(collector, { args, env })).code, 0);
      assertEquals([collector.requests.length, other.requests.length], [0, 1]);
    });
  });
});

Deno.test("a protocol that is not spoken is a warning that names the two", async () => {
  await withCollector(async (collector) => {
    const env = () => ({ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" });
    const { code, stderr } = await send(collector, { env });
    assertEquals([code, collector.requests.length], [0, 0]);
    assertMatch(
      stderr,
      /^warning: cannot send traces: the protocol "grpc" of OTLP is not supported/m,
    );
    assertMatch(stderr, /http\/protobuf or http\/json/);
  });
});

Deno.test("an address of the environment that is none is a warning, one of the option an error", async () => {
  await withCollector(async (collector) => {
    const env = () => ({ OTEL_EXPORTER_OTLP_ENDPOINT: "localhost:4318" });
    const { code, stderr } = await send(collector, { env });
    assertEquals(code, 0);
    assertMatch(stderr, /^warning: cannot send traces: invalid address "localhost:4318"$/m);
    const refused = await runMain(["--report", "otlp=localhost:4318", "w.yml"]);
    assertEquals(refused.code, 1);
    assertMatch(refused.stderr, /--report otlp needs the address of a collector/);
  });
});

Deno.test("a collector that is away is one warning of a suite, and no failure", async () => {
  await withFiles({ "a.yml": HELLO, "b.yml": HELLO }, async (cwd) => {
    const { clock, timers } = quickClock(withoutPauses);
    const args = ["--report", `otlp=http://127.0.0.1:${freePort()}`, "a.yml", "b.yml"];
    const { code, stderr } = await runMain(args, { cwd }, { clock });
    assertEquals(code, 0);
    assertMatch(
      stderr,
      /^warning: cannot send 8 of 8 spans to http:\/\/127\.0\.0\.1:\d+\/v1\/traces: .*refused.*\n$/,
    );
    assert(timers.includes(5000));
  });
});

Deno.test("a suite file names the collector for all of its runs", async () => {
  await withCollector(async (collector) => {
    const files = {
      "v.yml": HELLO,
      "w.yml": HELLO,
      "deep/suite.yml": `workflows: [../v.yml, ../w.yml]\nreport: otlp=${collector.url}/base\n`,
    };
    await withFiles(files, async (cwd) => {
      const { code, stderr } = await runMain(["deep/suite.yml"], { cwd });
      assertEquals([code, stderr], [0, ""]);
    });
    assertEquals(collector.requests.map(({ path }) => path), ["/base/v1/traces"]);
    const spans = collector.spans();
    assertEquals([spans.length, new Set(spans.map(({ traceId }) => traceId)).size], [8, 2]);
  });
});

Deno.test("a collector that never answers delays the end of a run by 5 s at most", async () => {
  const never = Promise.withResolvers<Response>();
  await withCollector(async (collector) => {
    const { clock, timers } = quickClock((time) => time === 5000 ? 50 : time);
    const { code, stderr } = await send(collector, { clock });
    never.resolve(new Response());
    assertEquals(code, 0);
    assertMatch(stderr, /^warning: cannot send 4 of 4 spans to .*: no answer within 5s$/m);
    assert(timers.includes(5000));
  }, () => never.promise);
});

Deno.test("429 and 503 are tried again when Retry-After says, other codes are not", async () => {
  for (
    const [status, after, requests] of [[429, "3", 2], [503, "0", 2], [429, "60", 1], [
      400,
      "1",
      1,
    ]] as const
  ) {
    await withCollector(async (collector) => {
      const { clock, timers } = quickClock(withoutPauses);
      const { code, stderr } = await send(collector, { clock });
      assertEquals([code, collector.requests.length], [0, requests], `${status} ${after}`);
      assertEquals(timers.includes(3000), after === "3");
      const lost = `: HTTP ${status}: too much`;
      assertEquals(stderr.includes(lost), requests === 1, stderr);
      assertEquals(collector.spans().length, requests === 2 ? 4 : 0);
    }, (_, count) => {
      if (count > 1) return undefined;
      return new Response("too\nmuch", { status, headers: { "retry-after": after } });
    });
  }
});

Deno.test("what a collector refuses of a request is a warning", async () => {
  await withCollector(async (collector) => {
    const env = () => ({ OTEL_EXPORTER_OTLP_PROTOCOL: "http/json" });
    const { code, stderr } = await send(collector, { env });
    assertEquals(code, 0);
    assertMatch(
      stderr,
      /cannot send 3 of 4 spans to .*: the collector has refused them: too old$/m,
    );
  }, () => Response.json({ partialSuccess: { rejectedSpans: "3", errorMessage: "too old" } }));
});

Deno.test("headers do not follow a redirect, and are secrets", async () => {
  await withCollector(async (other) => {
    await withCollector(async (collector) => {
      const key = "k-12345678";
      const files = {
        "w.yml": `name: w
vars: { seen: "{{SEEN}}" }
jobs: [{ name: j, steps: [{ name: "{{vars.seen}}", uses: hello }] }]
`,
      };
      const env = () => ({ OTEL_EXPORTER_OTLP_HEADERS: `x-tenant=${key}`, SEEN: key });
      const { code, stdout, stderr, events } = await send(collector, { files, env });
      assertEquals([code, other.requests.length], [0, 0]);
      assertEquals(collector.requests[0]!.headers.get("x-tenant"), key);
      assertMatch(stderr, /cannot send 4 of 4 spans to .*: it redirects to http:\/\/127\.0\.0\.1:/);
      assertStringIncludes(stdout, "○ ***");
      for (const text of [stdout, stderr, JSON.stringify(events)]) {
        assert(!text.includes(key), text);
      }
    }, (request) => {
      const location = `${other.url}/${request.headers.get("x-tenant")}`;
      return new Response(null, { status: 307, headers: { location } });
    });
  });
});

Deno.test("many spans are sent in batches while the run goes on", async () => {
  await withCollector(async (collector) => {
    const files = {
      "w.yml": `name: w
jobs: [{ name: j, repeat: { count: 700 }, steps: [{ name: "s", uses: hello }] }]
`,
    };
    assertPassed((await send(collector, { files })).stdout);
    const spans = collector.spans();
    assertEquals(spans.length, 2 + 2 * 700);
    assertEquals(new Set(spans.map(({ spanId }) => spanId)).size, spans.length);
    assertEquals(collector.requests.length, 3);
  });
});
