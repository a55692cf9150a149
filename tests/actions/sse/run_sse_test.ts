import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { ActionContext, Dict } from "../../../src/action/action.ts";
import { sse } from "../../../src/actions/sse/sse.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext, UNEXPLAINED } from "../../support/action_context.ts";
import { runnerOf } from "../../support/run_action.ts";
import { httpProxy } from "../../support/servers/proxies.ts";
import { type TestServer, withServer } from "../../support/servers/with_server.ts";

const runSse = runnerOf(sse);

/** A stream of texts that stays open for as long as the client wants it, or ends. */
interface EventServer extends TestServer {
  readonly requests: readonly { method: string; headers: Headers; body: string; path: string }[];
  /** Resolves when a client has left an open stream. */
  readonly left: Promise<void>;
}

function eventServer(
  texts: readonly string[],
  ends = false,
  type = "text/event-stream",
): EventServer {
  const requests: { method: string; headers: Headers; body: string; path: string }[] = [];
  const left = Promise.withResolvers<void>();
  const server = withServer(async (request) => {
    const path = new URL(request.url).pathname;
    const headers = new Headers(request.headers);
    requests.push({ method: request.method, headers, path, body: await request.text() });
    if (path === "/deny") return new Response("sign in first", { status: 401 });
    if (path === "/moved") return Response.redirect(new URL("/", request.url), 307);
    const body = new ReadableStream({
      start(controller) {
        const bytes = new TextEncoder().encode(texts.join(""));
        // Split in the middle of a character.
        for (const part of [bytes.subarray(0, 5), bytes.subarray(5)]) controller.enqueue(part);
        if (ends) controller.close();
      },
      cancel: () => left.resolve(),
    });
    return new Response(body, { headers: { "content-type": type, "set-cookie": "a=b" } });
  });
  return { ...server, requests, left: left.promise };
}

const EVENTS = [
  "data: ä\n\n: a comment\n\nretry: 300\n",
  'id: 1\nevent: price\ndata: {"amount": 5}\n\n',
  'id: 2\r\nevent: price\r\ndata: {"amount":\r\ndata: 7}\r\n\r\n',
  "event: done\ndata: [1]\n\n",
];

const SEEN = [
  { event: "message", data: "ä", id: "" },
  { event: "price", data: { amount: 5 }, id: "1" },
  { event: "price", data: { amount: 7 }, id: "2" },
  { event: "done", data: [1], id: "" },
];

async function failureOf(params: Dict, context: ActionContext): Promise<StepError> {
  return await assertRejects(() => runSse(params, context), StepError);
}

Deno.test("sse receives events until the server ends the stream", async () => {
  await using context = actionContext();
  await using server = eventServer(EVENTS, true);
  const { req, res, status, brief } = await runSse({ url: server.url }, context);
  assertEquals(res.events, SEEN);
  assertEquals([res.event, res.code, res.retry], [SEEN[3], 200, 300]);
  assertEquals([status, brief, req.method], [0, "4 events", "GET"]);
  assertEquals(server.requests[0]!.headers.get("accept"), "text/event-stream");
});

Deno.test("sse leaves a stream once an expression is true, or after as many events as it may", async () => {
  await using context = actionContext();
  for (const goal of [{ until: "message.data.amount == 7" }, { max_events: 3 }] as Dict[]) {
    await using server = eventServer(["event: x\ndata: {}\n\n", ...EVENTS.slice(1)]);
    const { res } = await runSse({ url: server.url, ...goal }, context);
    assertEquals((res.events as Dict[]).length, 3);
    await server.left;
  }
});

Deno.test("sse fails if its expression never becomes true", async () => {
  await using context = actionContext();
  await using server = eventServer(EVENTS, true);
  const until = 'message.event == "paid"';
  const ended = await failureOf({ url: server.url, until }, context);
  assertEquals(
    ended.message,
    `GET "${server.url}/": the server ended the stream before "until" was true: ` +
      '4 events came, the last is {"event":"done","data":[1],"id":""}',
  );
  assertEquals((ended.details.res as Dict).events, SEEN);
  const limitError = await failureOf({ url: server.url, until, max_events: 1 }, context);
  assertStringIncludes(
    limitError.message,
    'the events came to "max_events" before "until" was true',
  );
});

Deno.test("sse says how far it was when its time was over, and leaves", async () => {
  await using context = actionContext();
  await using server = eventServer(EVENTS);
  const params = { url: server.url, until: "message.data == 1", timeout: "400ms" };
  const { message, details } = await failureOf(params, context);
  assertStringIncludes(
    message,
    `GET "${server.url}/": "until" was not true within 400ms: 4 events`,
  );
  assertEquals((details.res as Dict).events, SEEN);
  await server.left;
  assertEquals(context.stops, 0);
});

Deno.test("sse says what did not come in time", async () => {
  await using context = actionContext();
  await using silent = eventServer([": hello\n\n"]);
  await using one = eventServer(["data: 1\n\n"]);
  const messageOf = async (params: Dict) =>
    (await failureOf({ ...params, timeout: "200ms" }, context)).message;
  assertEquals(await messageOf({ url: silent.url }), `GET "${silent.url}/": no event within 200ms`);
  const came = '1 event came, the last is {"event":"message","data":"1","id":""}';
  assertEquals(
    await messageOf({ url: one.url }),
    `GET "${one.url}/": the server did not end the stream within 200ms: ${came}`,
  );
  assertEquals(
    await messageOf({ url: one.url, max_events: 2 }),
    `GET "${one.url}/": fewer than 2 events within 200ms: ${came}`,
  );
});

Deno.test("sse posts, follows redirects, signs in and keeps cookies", async () => {
  await using context = actionContext();
  await using server = eventServer(EVENTS, true);
  const params = { method: "POST", json: { ask: 1 }, auth: { bearer: "token-of-ann" } };
  const { res } = await runSse({ url: `${server.url}/moved`, ...params }, context);
  assertEquals((res.redirects as Dict[]).length, 1);
  await runSse({ url: server.url }, context);
  const [, moved, last] = server.requests;
  assertEquals([moved!.method, moved!.body], ["POST", '{"ask":1}']);
  assertEquals(moved!.headers.get("authorization"), "Bearer token-of-ann");
  assertEquals(last!.headers.get("cookie"), "a=b");
});

Deno.test("sse reports a response that is not a stream of events", async () => {
  await using context = actionContext();
  await using page = eventServer(["hello"], true, "text/html");
  const error = await failureOf({ url: page.url }, context);
  assertEquals(
    error.message,
    `GET "${page.url}/" was answered with text/html, not with text/event-stream`,
  );
  assertEquals((error.details.res as Dict).body, "hello");
  const { res, status, brief } = await runSse({ url: `${page.url}/deny` }, context);
  assertEquals([res.code, res.body, res.events, status, brief], [
    401,
    "sign in first",
    [],
    1,
    "HTTP 401",
  ]);
  const waiting = await failureOf({ url: `${page.url}/deny`, until: "true" }, context);
  assertStringIncludes(waiting.message, "was answered with 401 Unauthorized, not with text/event");
  const refused = await failureOf({ url: "http://127.0.0.1:1/" }, context);
  assertStringIncludes(refused.message, "refused the connection (ECONNREFUSED)");
  const permissions = { net: [{ host: "example.com", below: false }] };
  const denied = await failureOf({ url: page.url }, { ...context, permissions });
  assertStringIncludes(denied.message, "--allow-net does not name 127.0.0.1");
});

Deno.test("sse goes through a proxy, undoes compression, and ends when it is stopped", async () => {
  await using context = actionContext();
  await using server = withServer(() => {
    const stream = new Blob(EVENTS).stream().pipeThrough(new CompressionStream("gzip"));
    const headers = { "content-type": "text/event-stream", "content-encoding": "gzip" };
    return new Response(stream, { headers });
  });
  await using proxy = await httpProxy();
  const params = { url: server.url, proxy: `127.0.0.1:${proxy.port}` };
  assertEquals((await runSse(params, context)).res.events, SEEN);
  assertEquals(proxy.asked, [`GET ${server.url}/`]);
  await using open = eventServer(["data: first\n\n"]);
  const running = failureOf({ url: open.url, until: "stop" }, {
    ...context,
    // Stopped once the first event has come.
    readCondition() {
      const stop = () => {
        setTimeout(() => context.stop(new StepError("interrupted")));
        return false;
      };
      return Promise.resolve(Object.assign(stop, UNEXPLAINED));
    },
  });
  assertStringIncludes((await running).message, "interrupted while receiving the body");
  await open.left;
});

Deno.test("sse bounds an event as it comes, and keeps no comment", async () => {
  await using context = actionContext();
  const streamOf = (part: string, last: string) => {
    let left = 70;
    const bytes = new TextEncoder().encode(part.padEnd(1 << 20, ".") + (part === ":" ? "\n" : ""));
    return withServer(() => {
      const body = new ReadableStream<Uint8Array<ArrayBuffer>>({
        pull(controller) {
          if (left-- > 0) return controller.enqueue(bytes);
          controller.enqueue(new TextEncoder().encode(last));
          controller.close();
        },
      });
      return new Response(body, { headers: { "content-type": "text/event-stream" } });
    });
  };
  await using comments = streamOf(":", "data: last\n\n");
  const { res } = await runSse({ url: comments.url }, context);
  assertEquals((res.event as Dict).data, "last");
  await using endless = streamOf("data: ", "\n\n");
  const failure = await failureOf({ url: endless.url }, context);
  assertStringIncludes(failure.message, "the events are larger than 67108864 bytes");
});
