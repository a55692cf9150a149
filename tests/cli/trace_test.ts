import { createServer, type IncomingHttpHeaders, type ServerHttp2Stream } from "node:http2";
import type { AddressInfo } from "node:net";
import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertStringIncludes,
} from "@std/assert";
import type { RunEvent, StepResult } from "../../src/run/event.ts";
import { readEvents } from "../../src/report/files/ndjson.ts";
import { runMain } from "../support/run/run_main.ts";
import { readDirectory } from "../support/run/run_reports.ts";
import { withServer } from "../support/servers/with_server.ts";
import { withFiles } from "../support/temp_dir.ts";

type Of<Type> = Extract<RunEvent, { readonly type: Type }>;

/** Runs the jobs of a workflow with every report, and reads its events. */
async function run(jobs: string, args: readonly string[] = ["--trace"], env = {}) {
  return await withFiles({ "w.yml": `name: w\njobs:\n${jobs}` }, async (cwd) => {
    const options = ["--no-check", "--report-dir", "reports", ...args, "w.yml"];
    const result = await runMain(options, { cwd, env });
    const reports = readDirectory(`${cwd}/reports`);
    const events = [...readEvents(reports["events.ndjson"] ?? "", "events.ndjson")];
    const all = <T extends RunEvent["type"]>(type: T) =>
      events.filter((event): event is Of<T> => event.type === type);
    const results = all("step_finished").map(({ result }) => result);
    return { ...result, reports, all, results, start: all("run_started")[0]! };
  });
}

/** The header that the last attempt of a step sends. */
function headerOf({ trace, attempts }: StepResult, flags = "01"): string {
  return `00-${trace?.id}-${attempts.at(-1)?.span}-${flags}`;
}

/** A server that keeps what came in the header `traceparent`, by the path. */
function traceServer() {
  const seen: Record<string, (string | null)[]> = {};
  let answers = 0;
  const server = withServer((request) => {
    const { pathname } = new URL(request.url);
    (seen[pathname] ??= []).push(request.headers.get("traceparent"));
    switch (pathname) {
      case "/moved":
        return new Response(null, { status: 302, headers: { location: "/new" } });
      case "/flaky":
        return new Response("", { status: answers++ === 0 ? 500 : 200 });
      case "/events":
        return new Response("data: 1\n\n", { headers: { "content-type": "text/event-stream" } });
      case "/socket": {
        const { socket, response } = Deno.upgradeWebSocket(request);
        socket.onmessage = ({ data }) => socket.send(data);
        return response;
      }
      default:
        return new Response("ok");
    }
  });
  return { ...server, seen };
}

Deno.test("--trace sends the span of its attempt with each request", async () => {
  await using server = traceServer();
  const calls: unknown[] = [];
  const grpc = createServer();
  grpc.on("stream", (stream: ServerHttp2Stream, { traceparent }: IncomingHttpHeaders) => {
    calls.push(traceparent);
    stream.respond({ ":status": 200, "content-type": "application/grpc", "grpc-status": 12 }, {
      endStream: true,
    });
  });
  await new Promise<void>((resolve) => grpc.listen(0, "127.0.0.1", resolve));
  const { port } = grpc.address() as AddressInfo;
  const { url } = server;
  const { results, start, all, stdout } = await run(`
  - name: a
    steps:
      - { uses: http, with: { get: ${url}/moved }, test: res.body == "ok" }
      - { uses: http, with: { get: ${url}/flaky }, retry: { max_attempts: 2, interval: 1ms } }
      - { uses: sse, with: { url: ${url}/events } }
      - { uses: websocket, with: { url: ${
    url.replace("http", "ws")
  }/socket, send: [a], expect: [a] } }
      - { uses: grpc, with: { addr: 127.0.0.1:${port}, health: true }, allow_failure: true }
      - uses: http
        with:
          get: ${url}/written
          headers: { TraceParent: "00-{{trace.id}}-{{trace.span}}-00" }
        test: req.headers.traceparent == "00-" + trace.id + "-" + trace.span + "-00"
      - { uses: http, with: { get: ${url}/none, headers: { traceparent: null } } }
      - { uses: http, with: { get: ${url}/shown }, test: 'req.headers.traceparent matches trace.span' }
    finally:
      - { uses: http, with: { get: ${url}/cleanup } }
`);
  grpc.close();
  assertEquals(results.filter(({ state }) => state === "failed"), [], stdout);
  const [moved, flaky, events, socket, called, written, , shown, cleanup] = results;
  assertEquals(server.seen, {
    "/moved": [headerOf(moved!)],
    "/new": [headerOf(moved!)],
    "/flaky": flaky!.attempts.map(({ span }) => `00-${flaky!.trace!.id}-${span}-01`),
    "/events": [headerOf(events!)],
    "/socket": [headerOf(socket!)],
    "/written": [headerOf(written!, "00")],
    "/none": [null],
    "/shown": [headerOf(shown!)],
    "/cleanup": [headerOf(cleanup!)],
  });
  assertEquals(calls, [headerOf(called!)]);
  assertNotEquals(flaky!.attempts[0]!.span, flaky!.attempts[1]!.span);
  const { id, span } = start.trace!;
  assertMatch(`${id} ${span}`, /^[\da-f]{32} [\da-f]{16}$/);
  const [job] = all("job_started");
  assertEquals(job!.trace, { id, span: job!.trace!.span, sampled: true, parent: span });
  for (const { trace } of results) {
    assertEquals([trace!.id, trace!.parent, trace!.sampled], [id, job!.trace!.span, true]);
  }
});

Deno.test("the steps of an embedded job are within the attempt around them", async () => {
  const { results, code } = await withFiles({
    "w.yml": "name: w\njobs: [{ name: a, steps: [{ uses: embedded, with: { path: in.yml } }] }]\n",
    "in.yml": "name: in\nsteps: [{ uses: hello }]\n",
  }, async (cwd) => {
    const { code, stdout } = await runMain(["--trace", "--report", "ndjson=-", "w.yml"], { cwd });
    const events = [...readEvents(stdout, "-")];
    return {
      code,
      results: events.flatMap((event) => event.type === "step_finished" ? [event.result] : []),
    };
  });
  assertEquals(code, 0);
  const [inner, outer] = results;
  assertEquals(inner!.trace!.parent, outer!.attempts[0]!.span);
});

Deno.test("a run without --trace has no trace, and one with a collector has one", async () => {
  await using server = traceServer();
  const step = `
  - name: a
    steps:
      - uses: http
        with: { get: "${server.url}/" }
        test: trace.id == nil && trace.span == nil
`;
  const { code, results, start } = await run(step, []);
  assertEquals([code, results[0]!.trace, start.trace, server.seen["/"]], [
    ...[0, undefined, undefined],
    [null],
  ]);
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: server.url };
  assert((await run(step, [], endpoint)).start.trace);
});

Deno.test("a seed repeats the values of a run, and not its traces", async () => {
  const step = '\n  - { name: a, steps: [{ uses: hello, echo: "{{random_int(1000000)}}" }] }\n';
  const runs = [
    await run(step, ["--trace", "--seed", "x"]),
    await run(step, ["--trace", "--seed", "x"]),
  ];
  assertEquals(runs[0]!.results[0]!.echo, runs[1]!.results[0]!.echo);
  assertNotEquals(runs[0]!.start.trace!.id, runs[1]!.start.trace!.id);
});

for (const processes of ["1", "2"]) {
  Deno.test(`one round of load in a hundred is sampled, in ${processes} processes`, async () => {
    await using server = traceServer();
    const { code, all, results } = await run(
      `
  - name: a
    load: { users: 4, count: 250 }
    steps:
      - { uses: http, with: { get: "${server.url}/first" }, test: res.code == 200 }
      - { uses: http, with: { get: "${server.url}/second" }, test: res.code == 200 }
`,
      ["--trace", "--processes", processes],
    );
    assertEquals([code, results.length], [0, 0]);
    const headers = server.seen["/first"]!.map((header) => header!.split("-"));
    assertEquals(headers.length, 250);
    assertEquals(new Set(headers.map(([, id]) => id)).size, 250);
    const rounds = all("round_traced").sort((a, b) => a.round - b.round);
    assertEquals(rounds.map(({ round, state }) => [round, state]), [
      ...[[0, "passed"], [100, "passed"], [200, "passed"]],
    ]);
    for (const { trace, steps } of rounds) {
      assertEquals([trace.parent, trace.sampled], [undefined, true]);
      const sent = steps.map(({ result }) => headerOf(result));
      assertEquals(steps.map(({ result }) => result.trace!.parent), [trace.span, trace.span]);
      assertEquals(server.seen["/first"]!.includes(sent[0]!), true);
      assertEquals(server.seen["/second"]!.includes(sent[1]!), true);
    }
    const sampled = headers.filter(([, , , flags]) => flags === "01").map(([, id]) => id);
    assertEquals(sampled.sort(), rounds.map(({ trace }) => trace.id).sort());
  });
}

Deno.test("listen takes the header of what arrives as the parent of its span", async () => {
  const { code, all, results } = await run(`
  - name: a
    steps:
      - { id: hook, uses: listen, outputs: { url: res.url } }
      - { uses: http, with: { post: "{{outputs.url}}/a", body: hi }, test: res.code == 204 }
      - uses: http
        with: { post: "{{outputs.url}}/b", body: hi, headers: { traceparent: no } }
        test: res.code == 204
      - { uses: receive, with: { from: hook }, test: message.headers.traceparent matches trace.id }
`);
  assertEquals(code, 0);
  const [, sent] = results;
  const [first, second] = all("messages_came")[0]!.messages;
  const { id, parent, span, sampled } = first!.trace!;
  assertEquals([id, parent, sampled], [sent!.trace!.id, sent!.attempts[0]!.span, true]);
  assertNotEquals(span, parent);
  assertEquals(second!.trace, undefined);
});

Deno.test("a failure shows the id of its trace, and the address of it", async () => {
  const jobs = `
  - { name: a, steps: [{ id: x, uses: hello, test: 1 == 2 }] }
  - { name: b, load: { users: 1, count: 2 }, steps: [{ uses: hello, test: round.index == 0 }] }
`;
  const url = "https://traces.example.com/trace/{id}?a=1&b=2";
  const { stdout, reports, results, start } = await run(jobs, ["--trace"], {
    RUNNER_TRACE_URL: url,
  });
  const { id } = start.trace!;
  const address = url.replace("{id}", id);
  assertEquals(results[0]!.trace!.url, address);
  assertStringIncludes(stdout, `        trace: ${id}\n        ${address}\n`);
  assertMatch(stdout, /trace: [\da-f]{32} \(not sampled\)\n/);
  const junit = reports["junit.xml"]!;
  assertStringIncludes(junit, `<property name="trace" value="${id}"/>`);
  assertStringIncludes(junit, `value="${address.replace("&", "&amp;")}"`);
  const report = JSON.parse(reports["report.json"]!);
  assertEquals(report.trace, start.trace);
  assertEquals(report.jobs[0].steps[0].trace, results[0]!.trace);
  assertStringIncludes(reports["report.html"]!, address);
  const other = await run(jobs, ["--trace"], { RUNNER_TRACE_URL: "https://traces.example.com" });
  assertEquals(other.results[0]!.trace!.url, undefined);
});

Deno.test("check says that an id of a trace is nil without --trace", async () => {
  const step = "{ uses: hello, echo: '{{trace.id}} {{trace?.span}} {{trace.spam}}' }";
  const flow = `name: w\njobs: [{ name: a, steps: [${step}] }]\n`;
  await withFiles({ "w.yml": flow }, async (cwd) => {
    const { stdout } = await runMain(["check", "w.yml"], { cwd });
    assertStringIncludes(stdout, "hint: trace.id is nil without --trace");
    assertStringIncludes(stdout, 'unknown field "spam" of trace');
    assertEquals(stdout.includes("trace.span is nil"), false);
  });
});
