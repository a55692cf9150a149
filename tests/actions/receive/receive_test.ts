import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { findIn } from "../../support/check_text.ts";
import { runHere } from "../../support/run/run_main.ts";
import { runReports } from "../../support/run/run_reports.ts";
import { type TestServer, withServer } from "../../support/servers/with_server.ts";
import { withFiles } from "../../support/temp_dir.ts";

/** A file whose jobs have steps in YAML; `JOB` begins another job, that needs the one before. */
function flowOf(steps: string): string {
  const jobs = steps.split("JOB\n").map((part, index) => {
    const needs = index === 0 ? "" : `    needs: [job${index - 1}]\n`;
    const lines = part.trimEnd().split("\n").map((line) => `      ${line}\n`);
    return `  - id: job${index}\n    name: job ${index}\n${needs}    steps:\n${lines.join("")}`;
  });
  return `name: Flow\njobs:\n${jobs.join("")}`;
}

async function runSteps(steps: string, ...args: string[]) {
  return await withFiles(
    { "flow.yml": flowOf(steps) },
    (cwd) => runHere(["flow.yml", ...args], { cwd, env: { NO_COLOR: "1" } }),
  );
}

async function assertPasses(steps: string): Promise<void> {
  const { code, stdout, stderr } = await runSteps(steps);
  assertEquals([code, stderr], [0, ""], stdout);
}

const PRINTS = (lines: string) =>
  `- id: srv
  uses: shell
  with: { cmd: '${lines}; cat', stdin: null, background: true }
`;

const COUNT = PRINTS("for i in 1 2 3 4 5; do echo line $i; echo $i >&2; done; sleep 60");

Deno.test("receive takes the first message that fits, and leaves the others", async () => {
  await assertPasses(`${COUNT}
- uses: receive
  with: { from: srv, where: message.line == "line 3" }
  test: message.stream == "stdout" && res.message == message && res.messages == [message]
- uses: receive
  with: { from: srv, where: message.stream == "stdout", count: 2 }
  test: res.messages[0].line == "line 1" && message.line == "line 2" && res.waited >= 0
JOB
- id: last
  uses: receive
  with: { from: [srv], where: message.stream == "stdout" }
  outputs: { line: message.line }
- uses: assert
  test: outputs.last.line == "line 4"
- uses: receive
  with: { from: srv, where: message.line == "line 3", none: 1ms }
`);
});

Deno.test("a failure of receive shows how many messages came, and the nearest one", async () => {
  const { code, stdout } = await runSteps(`${COUNT}
- uses: receive
  with: { from: srv, where: message.line == "line 5" }
- uses: receive
  with: { from: srv, where: 'message.stream == "stderr" && message.line == "7"', timeout: 50ms }
- uses: receive
  with: { from: srv, where: message.stream == "stdout", none: 50ms }
- uses: receive
  with: { from: srv, where: message.line.x == 1, timeout: 1ms, count: 2 }
- uses: receive
  with: { from: srv, where: message.line }
`);
  assertEquals(code, 1);
  assertStringIncludes(stdout, 'no message from "srv" fits "where" within 50ms: 9 messages came');
  assertStringIncludes(stdout, 'message.line is "5" (string)');
  assertStringIncludes(stdout, "the last 3 messages:");
  assertStringIncludes(stdout, 'a message that fits came from "srv" after ');
  assertStringIncludes(stdout, 'too few messages from "srv" fit "where" within 1ms: 9 messages');
  assertStringIncludes(stdout, "where must be true or false, it is string");
});

Deno.test("messages that fall out are counted, and a step that may have needed them fails", async () => {
  const many = PRINTS(
    "i=0; while [ $i -lt 1100 ]; do echo $i; i=$((i+1)); done; echo end; sleep 60",
  );
  const { code, stdout } = await runSteps(`${many}
- uses: receive
  with: { from: srv, where: message.line == "end" }
- uses: receive
  with: { from: srv, where: message.line == "5", timeout: 20ms }
- uses: receive
  with: { from: srv }
  test: message.line in ["100", "101"]
`);
  assertEquals(code, 1);
  // The step that waits for the last one may be there before it comes.
  const loss = /10[01] messages of "srv" fell out before a step received them/;
  assertMatch(stdout, loss);
  assertStringIncludes(stdout, "2 passed");
  const { stdout: next } = await runSteps(`${many}
- uses: receive
  with: { from: srv, where: message.line == "end" }
- uses: receive
  with: { from: srv }
`);
  assertMatch(next, loss);
  const { code: retried, stdout: none } = await runSteps(`${many}
- uses: receive
  with: { from: srv, where: message.line == "end" }
- uses: receive
  with: { from: srv, where: message.line == "5", none: 5ms }
  retry: { max_attempts: 2 }
`);
  assertEquals(retried, 1);
  assertMatch(none, loss);
});

Deno.test("a step that fails gives what it has taken back, in its place", async () => {
  const { stdout } = await runSteps(`${COUNT}
- uses: receive
  with: { from: srv, where: message.line == "3" }
- uses: receive
  with: { from: srv, where: message.stream == "stdout", count: 6, timeout: 20ms }
- uses: receive
  with: { from: srv, where: message.stream == "stdout", count: 5 }
  test: map(res.messages, .line) == ["line 1", "line 2", "line 3", "line 4", "line 5"]
`);
  assertStringIncludes(stdout, " of 6 fit");
  assertStringIncludes(stdout, "2 passed · 1 failed");
});

Deno.test("a command that has ended fails the step that waits for a line", async () => {
  const { stdout, stderr } = await runSteps(`- id: srv
  uses: shell
  with: { cmd: "echo one", background: true }
- uses: receive
  with: { from: srv, where: message.line == "two" }
`);
  assertStringIncludes(
    stdout,
    'no message from "srv" fits "where": 1 message came; it is over: the command ended with exit',
  );
  assertEquals(stderr, "");
});

/** A server that sends what is posted to it to those who listen, by SSE or WebSocket. */
function hub(): TestServer {
  const streams = new Set<ReadableStreamDefaultController<Uint8Array>>();
  const sockets = new Set<WebSocket>();
  return withServer(async (request) => {
    const { pathname } = new URL(request.url);
    if (pathname === "/socket") {
      const { socket, response } = Deno.upgradeWebSocket(request);
      socket.onopen = () => sockets.add(socket);
      socket.onclose = () => sockets.delete(socket);
      socket.onmessage = ({ data }) => {
        for (const each of sockets) if (each !== socket || data === "self") each.send(data);
        if (data === "bye") socket.close(4000, "thrown out");
      };
      return response;
    }
    if (pathname === "/events") {
      let mine: ReadableStreamDefaultController<Uint8Array>;
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => void streams.add(mine = controller),
        cancel: () => void streams.delete(mine),
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    }
    if (pathname !== "/say") return new Response("nothing here", { status: 404 });
    const text = await request.text();
    for (const stream of streams) {
      if (text === "end") stream.close();
      else stream.enqueue(new TextEncoder().encode(`event: said\ndata: ${text}\n\n`));
    }
    return new Response();
  });
}

Deno.test("sse in the background keeps events that come while other steps act", async () => {
  await using server = hub();
  await assertPasses(`- id: events
  uses: sse
  with: { url: ${server.url}/events, background: true }
  test: res.code == 200 && res.headers["Content-Type"] == "text/event-stream"
  outputs: { url: res.url }
- uses: http
  with: { post: ${server.url}/say, json: { n: 1, token: "tok-secret-1" } }
- uses: http
  with: { post: ${server.url}/say, json: { n: 2 } }
- uses: receive
  with: { from: events, where: message.data.n == 2 }
  test: message.event == "said"
- uses: receive
  with: { from: events }
  test: message.data.n == 1
- uses: receive
  with: { from: events, none: 1ms }
- uses: assert
  test: outputs.events.url endsWith "/events"
`);
});

Deno.test("a stream that ends fails the step that waits, and what is no stream fails its own", async () => {
  await using server = hub();
  const { stdout } = await runSteps(`- id: events
  uses: sse
  with: { url: ${server.url}/events, background: true }
- uses: http
  with: { post: ${server.url}/say, body: end }
- uses: receive
  with: { from: events }
- uses: sse
  with: { url: ${server.url}/nothing, background: true }
- uses: sse
  with: { url: "http://127.0.0.1:1/", background: true }
- uses: sse
  with: { url: "${server.url}/events", background: true }
`);
  assertStringIncludes(stdout, 'no message came from "events"; it is over: the server ended');
  assertStringIncludes(stdout, "was answered with 404 Not Found, not with text/event-stream");
  assertStringIncludes(stdout, "(ECONNREFUSED)");
});

Deno.test("two clients of a WebSocket speak on what is open", async () => {
  await using server = hub();
  const url = server.url.replace("http", "ws");
  await assertPasses(`- id: alice
  uses: websocket
  with: { url: ${url}/socket, background: true }
  test: res.code == 101
- id: bob
  uses: websocket
  with: { url: ${url}/socket, background: true }
- uses: websocket
  with: { on: alice, send: { text: hi bob } }
- uses: receive
  with: { from: bob, where: message.data.text == "hi bob" }
  test: message.type == "text"
- uses: websocket
  with: { on: bob, send: [one, two] }
- uses: websocket
  with: { on: alice, until: message == "two" }
  test: res.messages == ["one", "two"]
- uses: websocket
  with: { on: alice, send: self, expect: self }
- uses: receive
  with: { from: [alice, bob], where: message.data == "self" }
`);
});

Deno.test("a WebSocket that the server closes says so to who waits, or in a warning", async () => {
  await using server = hub();
  const url = server.url.replace("http", "ws");
  const open = `- id: alice
  uses: websocket
  with: { url: ${url}/socket, background: true, send: bye }
`;
  const { stdout } = await runSteps(`${open}
- uses: receive
  with: { from: alice }
- uses: websocket
  with: { on: alice, send: x }
`);
  assertStringIncludes(stdout, "it is over: the WebSocket was closed (4000: thrown out)");
  assertStringIncludes(stdout, 'cannot send on "alice": the WebSocket was closed');
});

/** A server of Redis that confirms a subscription, and then sends messages. */
function redisServer(): AsyncDisposable & { readonly port: number } {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const bulk = (...parts: string[]) =>
    `*${parts.length}\r\n${parts.map((part) => `$${part.length}\r\n${part}\r\n`).join("")}`;
  const serve = async (connection: Deno.Conn) => {
    const replies = [
      "+PONG\r\n",
      `*3\r\n$10\r\npsubscribe\r\n$3\r\no.*\r\n:1\r\n${bulk("pmessage", "o.*", "o.7", '{"id":7}')}${
        bulk("pmessage", "o.*", "o.8", "gone")
      }`,
    ];
    for (const reply of replies) {
      await connection.read(new Uint8Array(1024));
      await connection.write(new TextEncoder().encode(reply));
    }
    connection.close();
  };
  const done = (async () => {
    for await (const connection of listener) await serve(connection).catch(() => {});
  })();
  return {
    port: (listener.addr as Deno.NetAddr).port,
    async [Symbol.asyncDispose]() {
      listener.close();
      await done;
    },
  };
}

Deno.test("redis keeps what is published on a channel, until the server is gone", async () => {
  await using server = redisServer();
  const { stdout } = await runSteps(`- id: orders
  uses: redis
  with: { url: "redis://127.0.0.1:${server.port}", command: PSUBSCRIBE o.*, background: true }
  test: res.reply == ["o.*"]
- uses: receive
  with: { from: orders, where: message.body == "gone" }
  test: message.channel == "o.8"
- uses: receive
  with: { from: orders }
  test: message.body.id == 7 && message.raw == '{"id":7}' && message.pattern == "o.*"
- uses: receive
  with: { from: orders }
`);
  assertStringIncludes(stdout, "3 passed");
  assertStringIncludes(stdout, 'no message came from "orders"; it is over: 127.0.0.1 port');
});

Deno.test("check knows which steps are open, and what their messages have", async () => {
  const step = (text: string) => `      - ${text}\n`;
  const found = await findIn(
    `name: Flow
jobs:
  - name: a
    steps:
` + step('{ id: srv, uses: shell, with: { cmd: "cat", background: true } }') +
      step("{ id: once, uses: shell, with: { cmd: cat } }") +
      step('{ uses: receive, with: { from: srf, where: message.lin == "x" } }') +
      step('{ uses: receive, with: { from: [srv], where: message.lin == "x" }, test: message.x }') +
      step("{ uses: receive, with: { from: once, where: 1 == 2 } }") +
      step("{ uses: receive, with: { from: other } }") +
      step("{ uses: receive, with: { from: later, count: 2, none: 1s } }") +
      step('{ id: later, uses: shell, with: { cmd: "cat", background: true } }') +
      step("{ uses: assert, test: message == 1 }") + `  - name: b
    id: b
    steps:
` + step('{ id: other, uses: shell, with: { cmd: "cat", background: true } }'),
  );
  assertEquals(found.map((line) => line.replace(/^\d+:\d+ /, "").replace(/ \(.*/, "")), [
    'error unknown-open-step: no step has the id "srf"',
    'error unknown-field: unknown field "lin" of a message of shell: it is always nil',
    'error unknown-field: unknown field "x" of a message of shell: it is always nil',
    'error unknown-open-step: the step "once" does not stay open',
    "warning constant-test: this is always false: no message fits",
    'error unknown-open-step: the job "b" with the step "other" may not have run before this',
    'error unknown-open-step: the step "later" is not open yet: it runs after this one',
    'error parameter: "count" and "none" cannot be combined',
    'error unknown-name: unknown name "message" in a step',
  ]);
});

function dataIn(page: string, id: string): string {
  const [, data] = page.split(`<script id="${id}" type="application/json">`);
  return data!.slice(0, data!.indexOf("</script>"));
}

/** How many messages the row of each step marks. */
function countsIn(page: string): readonly (number | undefined)[] {
  const { steps } = JSON.parse(dataIn(page, "data"));
  return steps.map(({ arrivals }: { readonly arrivals?: readonly number[] }) => arrivals?.length);
}

Deno.test("the HTML report marks the messages of the rounds that it shows", async () => {
  const steps = `
    steps:
      - { id: hooks, uses: listen, outputs: { url: res.url } }
      - { uses: http, with: { get: "{{outputs.hooks.url}}" }, test: res.code == 204 }
      - { uses: receive, with: { from: hooks, timeout: 5s } }
`;
  const jobs = `  - name: a\n    repeat: { count: 3 }${steps}` +
    `  - name: b\n    load: { users: 1, count: 4 }${steps.replaceAll("hooks", "more")}`;
  const { code, stdout, reports } = await runReports({ "w.yml": `name: Rounds\njobs:\n${jobs}` });
  assertEquals(code, 0, stdout);
  assertEquals(countsIn(reports["report.html"]!).filter((count) => count !== undefined), [3, 4]);
});

Deno.test("reports show when messages came, the first 100 of them, without secrets", async () => {
  const steps = `- id: hooks
  uses: listen
  outputs: { url: res.url }
- uses: http
  with: { post: "{{outputs.hooks.url}}/paid", json: { order: 7, password: s3cret-of-ann } }
${PRINTS("seq 120")}
- uses: receive
  with: { from: srv, where: message.line == "120" }
- id: quiet
  uses: listen
`;
  const { code, stdout, reports } = await runReports({ "w.yml": flowOf(steps) });
  assertEquals(code, 0, stdout);
  const page = reports["report.html"]!;
  const lines = reports["events.ndjson"]!;
  const events = lines.trim().split("\n").map((line) => JSON.parse(line));
  const came = events.filter(({ type }) => type === "messages_came");
  assertEquals(
    came.map(({ run, count, messages }) => [run.id, count, messages.length]).sort(),
    [["hooks", 1, 1], ["srv", 120, 100]],
  );
  const [{ text }] = came.find(({ run }) => run.id === "hooks").messages;
  assertStringIncludes(text, '"order":7');
  assertEquals(/s3cret-of-ann/.test(page + lines), false);
  assertEquals(countsIn(page), [1, undefined, 100, undefined, undefined]);
  const [hooks, , program] = dataIn(page, "details-data").trim().split("\n").map((line) =>
    JSON.parse(line)
  );
  assertEquals([hooks.came.texts, program.came.count], [[text], 120]);
});
