import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { httpExplainer } from "../../../src/actions/http/explain_http.ts";
import { runHttp } from "../../../src/actions/http/run_http.ts";
import { StepError } from "../../../src/base/errors.ts";
import type { Dict } from "../../../src/base/value/value.ts";
import { actionContext } from "../../support/action_context.ts";
import { type RawConnection, rawServer, response } from "../../support/servers/raw_server.ts";

/** Sends a request to a server that gives one answer; gives result, request text and secrets. */
async function exchange(params: Dict, answer = response("200 OK")) {
  await using context = actionContext();
  await using server = rawServer(async (connection) => {
    while (await connection.request() !== undefined) await connection.send(answer);
  });
  const result = await runHttp({ url: server.url, ...params }, context);
  const [text = ""] = server.requests;
  const [head = "", body = ""] = text.split("\r\n\r\n");
  const [line, ...headers] = head.split("\r\n");
  return {
    result,
    line,
    headers,
    body,
    host: `127.0.0.1:${server.port}`,
    secrets: context.learned,
  };
}

Deno.test("http sends default headers, and records the request in req", async () => {
  const { result, line, headers, host } = await exchange({ get: "/a?b=1" });
  assertEquals(line, "GET /a?b=1 HTTP/1.1");
  assertEquals(headers, [
    `Host: ${host}`,
    "Accept: */*",
    "User-Agent: runner",
    "Accept-Encoding: gzip, deflate, br",
    "Connection: keep-alive",
  ]);
  assertEquals({ ...result.req, headers: { ...result.req.headers as Dict } }, {
    method: "GET",
    url: `http://${host}/a?b=1`,
    headers: {
      Host: host,
      Accept: "*/*",
      "User-Agent": "runner",
      "Accept-Encoding": "gzip, deflate, br",
    },
    body: "",
  });
});

Deno.test("http sends numbers, booleans and other alphabets in headers and leaves out null", async () => {
  const { headers } = await exchange({
    get: "/",
    headers: {
      "x-number": 1.5,
      "X-BOOL": true,
      accept: null,
      "user-agent": "me",
      "x-name": "J\u00f6rg \u65e5",
      "x-block": "text\n",
      "content-length": 99,
    },
  });
  assertEquals(headers.slice(1), [
    "User-Agent: me",
    "Accept-Encoding: gzip, deflate, br",
    "X-Number: 1.5",
    "X-Bool: true",
    "X-Name: J\u00c3\u00b6rg \u00e6\u0097\u00a5",
    "X-Block: text",
    "Connection: keep-alive",
  ]);
});

Deno.test("http repeats a header whose value is a list, and leaves out an empty one", async () => {
  const { headers, result } = await exchange({
    get: "/",
    headers: { "x-tag": ["a", 2, null], "x-none": [], accept: ["text/html"] },
    user_agent: "me/1.0",
  });
  assertEquals(headers.slice(1), [
    "Accept: text/html",
    "User-Agent: me/1.0",
    "Accept-Encoding: gzip, deflate, br",
    "X-Tag: a",
    "X-Tag: 2",
    "Connection: keep-alive",
  ]);
  assertEquals((result.req.headers as Dict)["X-Tag"], ["a", "2"]);
});

Deno.test("http lets a header User-Agent replace user_agent", async () => {
  const { headers } = await exchange({ get: "/", user_agent: "a", headers: { "user-agent": "b" } });
  assertEquals(headers.filter((line) => line.startsWith("User-Agent")), ["User-Agent: b"]);
});

Deno.test("http gives the trailers of a response", async () => {
  const { result } = await exchange(
    { get: "/" },
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\nx-sum: abc\r\n\r\n",
  );
  assertEquals([result.res.body, { ...result.res.trailers as Dict }], ["hi", { "X-Sum": "abc" }]);
});

Deno.test("http gives the values of headers that were sent more than once", async () => {
  const { result: { res } } = await exchange(
    { get: "/" },
    response("200 OK", "", ["X-A: 1, 2", "X-B: 1", "x-b: 2", "x-b: 3"]),
  );
  const { headers, repeated_headers: repeated } = res as Record<string, Dict>;
  assertEquals([headers!["X-A"], headers!["X-B"]], ["1, 2", "1, 2, 3"]);
  assertEquals({ ...repeated }, { "X-B": ["1", "2", "3"] });
});

const METHODS: readonly (readonly [params: Dict, line: string])[] = [
  [{ post: "/x" }, "POST /x HTTP/1.1"],
  [{ put: "/x" }, "PUT /x HTTP/1.1"],
  [{ patch: "/x" }, "PATCH /x HTTP/1.1"],
  [{ delete: "/x" }, "DELETE /x HTTP/1.1"],
  [{ options: "/x" }, "OPTIONS /x HTTP/1.1"],
  [{ method: "GET" }, "GET / HTTP/1.1"],
  [{ method: "propfind" }, "PROPFIND / HTTP/1.1"],
  [{ method: "MKCOL" }, "MKCOL / HTTP/1.1"],
  [{ get: "/x?a=1", query: { b: [2, 3], c: "d e" } }, "GET /x?a=1&b=2&b=3&c=d%20e HTTP/1.1"],
];

for (const [params, expected] of METHODS) {
  Deno.test(`http sends ${expected} for ${JSON.stringify(params)}`, async () => {
    assertEquals((await exchange(params)).line, expected);
  });
}

const FORM = "application/x-www-form-urlencoded";
const BODIES:
  readonly (readonly [what: string, params: Dict, type: string | undefined, body: string])[] = [
    ["text as it is", { body: " a\u00e9 " }, undefined, " a\u00c3\u00a9 "],
    ["a number as text", { body: 5 }, undefined, "5"],
    [
      "an object as JSON",
      { body: { a: [1, null], b: "\u00fc" } },
      "application/json",
      '{"a":[1,null],"b":"\u00c3\u00bc"}',
    ],
    ["a list as JSON", { body: [1] }, "application/json", "[1]"],
    [
      "an object as JSON under the type of the step",
      { body: { a: 1 }, headers: { "CONTENT-TYPE": "application/vnd.api+json; charset=utf-8" } },
      "application/vnd.api+json; charset=utf-8",
      '{"a":1}',
    ],
    [
      "an object as a form",
      {
        body: { a: "1 2&3", b: [true, 4], c: null },
        headers: { "content-type": `${FORM}; charset=utf-8` },
      },
      `${FORM}; charset=utf-8`,
      "a=1%202%263&b=true&b=4",
    ],
    [
      "text under the type of a form as it is",
      { body: "a=b c", headers: { "content-type": FORM } },
      FORM,
      "a=b c",
    ],
  ];

for (const [what, params, type, expected] of BODIES) {
  for (const method of ["post", "get"]) {
    Deno.test(`http sends ${what} with ${method}`, async () => {
      const { headers, body, result } = await exchange({ [method]: "/", ...params });
      const sent = new Map(headers.map((line) => line.split(": ", 2) as [string, string]));
      assertEquals(body, expected);
      assertEquals(sent.get("Content-Type"), type);
      assertEquals(sent.get("Content-Length"), String(expected.length));
      const bytes = Uint8Array.from(expected, (character) => character.charCodeAt(0));
      assertEquals(result.req.body, new TextDecoder().decode(bytes));
    });
  }
}

Deno.test("http reports a missing body if the method usually has one", async () => {
  const { headers } = await exchange({ post: "/" });
  assertEquals(headers.filter((line) => /^(content|transfer)/i.test(line)), ["Content-Length: 0"]);
});

const STATUSES: readonly (readonly [line: string, code: number, text: string, status: number])[] = [
  ["200 OK", 200, "200 OK", 0],
  ["299 Fine by m\u00c3\u00a9", 299, "299 Fine by m\u00e9", 0],
  ["204", 204, "204", 0],
  ["304 Not Modified", 304, "304 Not Modified", 1],
  ["300 Multiple Choices", 300, "300 Multiple Choices", 1],
  ["500 Oh no", 500, "500 Oh no", 1],
];

for (const [line, code, text, status] of STATUSES) {
  Deno.test(`http gives code, status line and outcome of "${line}"`, async () => {
    const { result } = await exchange({ get: "/" }, response(line));
    assertEquals([result.res.code, result.res.status], [code, text]);
    assertEquals([result.status, result.brief], [status, `HTTP ${code}`]);
  });
}

Deno.test("http keys headers by canonical name, joins values and lists cookies", async () => {
  const { result } = await exchange(
    { get: "/" },
    response("200 OK", "", [
      'ETag: "1"',
      "www-authenticate: Basic",
      "WWW-AUTHENTICATE: Bearer",
      "set-cookie: a=1; Path=/",
      "Set-Cookie: b=2, 3",
      "__proto__: x",
      "x-name: J\u00c3\u00b6rg",
      "x-latin: J\u00f6rg",
    ]),
  );
  assertEquals({ ...result.res.headers as Dict }, {
    "Content-Length": "0",
    Etag: '"1"',
    "Www-Authenticate": "Basic, Bearer",
    "Set-Cookie": "a=1; Path=/, b=2, 3",
    ["__proto__"]: "x",
    "X-Name": "J\u00f6rg",
    "X-Latin": "J\u00f6rg",
  });
  const cookies = result.res.cookies as Dict[];
  assertEquals(cookies.map(({ name, value, raw }) => [name, value, raw]), [
    ["a", "1", "a=1; Path=/"],
    ["b", "2, 3", "b=2, 3"],
  ]);
});

Deno.test("http hides secrets from followed redirects in reports", async () => {
  await using context = actionContext();
  await using server = rawServer(async (connection) => {
    for (let request; (request = await connection.request()) !== undefined;) {
      const headers = ["Set-Cookie: sid=abcdef", `Location: //a:pass-1@127.0.0.1:${server.port}/b`];
      await connection.send(
        request.startsWith("GET /a") ? response("302 Found", "", headers) : response("200 OK"),
      );
    }
  });
  const { res } = await runHttp({ url: server.url, get: "/a" }, context);
  assertEquals(res.code, 200);
  assertEquals([...new Set(context.learned)], ["abcdef", "pass-1"]);
});

Deno.test("http keeps the password of a URL that it cannot send out of reports", async () => {
  await using context = actionContext();
  await assertRejects(
    async () => await runHttp({ get: "http://me:pass-1@word@a b/" }, context),
    StepError,
    'cannot run http: invalid URL "http://me:***@a b/"',
  );
});

Deno.test("http sends the credentials of a URL as a header and not as a part of the URL", async () => {
  await using context = actionContext();
  await using server = rawServer(async (connection) => {
    while (await connection.request()) await connection.send(response("200 OK"));
  });
  const url = server.url.replace("://", "://me:p%40ss-word@");
  const { req } = await runHttp({ url, get: "/x" }, context);
  assertEquals(req.url, `${server.url}/x`);
  assertMatch(server.requests[0]!, /^Authorization: Basic bWU6cEBzcy13b3Jk\r$/m);
});

Deno.test("http reads an answer that ends with the connection, and a chunked one", async () => {
  for (
    const answer of [
      "HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhello",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    ]
  ) {
    await using context = actionContext();
    await using server = rawServer(async (connection) => {
      await connection.request();
      await connection.send(answer);
      connection.close();
    });
    assertEquals((await runHttp({ get: server.url }, context)).res.body, "hello");
  }
});

Deno.test("http names the parameter that cannot be sent, and the request without its password", async () => {
  await using context = actionContext();
  const post = "http://me:hunter22@127.0.0.1:1/a";
  for (const [parameter, params] of [["query", { a: {} }], ["body", { a: NaN }]] as const) {
    const error = await assertRejects(
      () => runHttp({ post, [parameter]: params }, context),
      StepError,
      'cannot send POST "http://me:***@127.0.0.1:1/a": ',
    );
    assertEquals(error.details.parameter, parameter);
  }
});

Deno.test("http reads the head of a HEAD response and waits for no body", async () => {
  const { result } = await exchange(
    { head: "/" },
    "HTTP/1.1 200 OK\r\nContent-Length: 99999999999\r\nContent-Encoding: gzip\r\nContent-Type: image/png\r\n\r\n",
  );
  assertEquals([result.res.code, result.res.body, result.res.filepath], [200, "", undefined]);
});

const REFUSED: readonly (readonly [params: Dict, message: string])[] = [
  [{ url: "http://h" }, "http step has no method"],
  [{ method: "GET", url: null }, 'cannot run http: "url" is nil'],
  [{ url: "http://h", get: null }, 'cannot run http: "get" is nil'],
  [{ url: "http://h", method: null }, 'cannot run http: "method" is nil'],
  [{ method: "G T" }, 'cannot run http: invalid method "G T"'],
  [{ get: "/", headers: { "a b": 1 } }, 'cannot run http: invalid header name "a b"'],
  [{ get: "/", headers: { A: "x\r\nB: y" } }, 'cannot send the header "A": there is a line break'],
  [{ get: "/", headers: { A: [[1]] } }, 'cannot run http: "headers.A" must be text'],
  [{ get: "/", query: { a: {} } }, '"a" in "query" must be text'],
  [{ post: "/", body: { a: {} }, headers: { "content-type": FORM } }, '"a" in "body" must be text'],
  [{ post: "/", body: [{ a: null, b: NaN }] }, '"body" contains NaN'],
  [
    { post: "/", body: { a: -Infinity }, headers: { "content-type": "application/json" } },
    '"body" contains -Infinity',
  ],
  [{ get: "/", timeout: "soon" }, '"timeout" must be a duration'],
];

for (const [params, message] of REFUSED) {
  Deno.test(`http refuses ${JSON.stringify(params)} at run time`, async () => {
    await using context = actionContext();
    await assertRejects(
      () => runHttp({ url: "http://127.0.0.1:1", ...params }, context),
      StepError,
      message,
    );
    assertEquals(context.stops, 0);
  });
}

const { describe, testHint } = httpExplainer;

Deno.test("http shows its first lines in place of their fields, and marks minor fields", () => {
  const req = {
    method: "GET",
    url: "http://localhost/",
    headers: { Accept: "*/*", "X-Id": "1" },
    body: "",
  };
  const res = { code: 404, status: "404 Not Found", headers: { date: "today" }, body: "text" };
  assertEquals(describe!(req, res), {
    request: {
      title: "GET http://localhost/",
      covered: ["method", "url", "body"],
      asJson: ["body"],
      minor: [["headers", "Accept"]],
    },
    response: {
      kept: res,
      title: "404 Not Found",
      covered: ["code", "status"],
      asJson: ["body"],
      minor: [["headers", "date"]],
    },
  });
  assertEquals(describe!(req, null).response, undefined);
});

Deno.test("http adds the code to a status line that lacks it", () => {
  const titleOf = (status: string) => describe!({}, { code: 500, status }).response?.title;
  assertEquals(titleOf("Oops"), "500 Oops");
  assertEquals(titleOf("HTTP/1.1 500 Oops"), "HTTP/1.1 500 Oops");
});

Deno.test("http keeps the raw text of a body for reports only where it was not parsed", () => {
  const keptOf = (res: Record<string, never>) => describe!({}, res).response?.kept;
  const text = { body: "text", rawbody: "raw" };
  assertEquals(keptOf(text as never), text);
  assertEquals(keptOf({ body: { a: 1 }, rawbody: '{"a":1}' } as never), { body: { a: 1 } });
});

Deno.test("http explains status and code if a test reads status", () => {
  assertEquals(testHint!(["status", "200"], {})?.endsWith("the code is res.code"), true);
  assertEquals(testHint!(["status"], { errors: [] })?.endsWith("the code is res.code"), true);
  assertEquals(testHint!(["status"], { errors: [{}] })?.endsWith("res.errors has them"), true);
  assertEquals(testHint!(["res.code"], {}), undefined);
});

/** A server that begins an answer, never ends it and waits for the client to go away. */
function silentServer(beginning: string) {
  const gone = Promise.withResolvers<void>();
  const arrived = Promise.withResolvers<void>();
  const server = rawServer(async (connection: RawConnection) => {
    await connection.request();
    if (beginning) await connection.send(beginning);
    arrived.resolve();
    await connection.closed();
    gone.resolve();
  });
  return { server, gone: gone.promise, arrived: arrived.promise };
}

const BEGINNINGS: readonly (readonly [answer: string, what: string, during: string])[] = [
  ["", "send", "while waiting for the answer of"],
  [
    "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
    "read the response to",
    "while receiving the body from",
  ],
];

for (const [beginning, what, during] of BEGINNINGS) {
  Deno.test(`http closes the connection when its time is over ${during} a server`, async () => {
    await using context = actionContext();
    const { server, gone } = silentServer(beginning);
    await using _ = server;
    const error = await assertRejects(
      () => runHttp({ post: `${server.url}/x`, body: "b", timeout: "400ms" }, context),
      StepError,
      `cannot ${what} POST "${server.url}/x": the request timed out after 400ms ${during} 127.0.0.1 port ${server.port}`,
    );
    assertEquals([error.details.req?.method, error.details.req?.body], ["POST", "b"]);
    await gone;
    assertEquals(context.stops, 0);
  });

  Deno.test(`http closes the connection when it is stopped ${during} a server`, async () => {
    await using context = actionContext();
    const { server, gone, arrived } = silentServer(beginning);
    await using _ = server;
    const result = runHttp({ get: server.url }, context);
    arrived.then(() => context.stop(new StepError("interrupted")));
    const error = await assertRejects(() => result, StepError, "interrupted");
    assertEquals(error.details.req?.url, `${server.url}/`);
    await gone;
    assertEquals(context.stops, 0);
  });
}

Deno.test("http counts redirects in its time", async () => {
  await using context = actionContext();
  const gone = Promise.withResolvers<void>();
  await using server = rawServer(async (connection) => {
    await connection.request();
    await connection.send(response("302 Found", "", ["Location: /next"]));
    await connection.request();
    await connection.closed();
    gone.resolve();
  });
  await assertRejects(
    () => runHttp({ get: server.url, timeout: "400ms" }, context),
    StepError,
    `cannot send GET "${server.url}/next": the request timed out after 400ms`,
  );
  await gone.promise;
});

Deno.test("http closes the connection of a server that answers before it has read the body", async () => {
  await using context = actionContext();
  const gone = Promise.withResolvers<void>();
  await using server = rawServer(async (connection) => {
    await connection.send(response("413 Content Too Large", "no"));
    // The body does not fit into what the system keeps for a connection.
    await result.catch(() => {});
    await connection.closed();
    gone.resolve();
  });
  const result = runHttp({ put: server.url, body: "x".repeat(32 << 20) }, context);
  assertEquals((await result).res.code, 413);
  await gone.promise;
});

Deno.test("http does not start a request that was already stopped", async () => {
  await using context = actionContext();
  await using server = rawServer(async (connection) => void await connection.request());
  const reason = new StepError("interrupted");
  context.stop(reason);
  await assertRejects(() => runHttp({ get: server.url }, context), StepError, "interrupted");
  assertEquals(server.connections, 0);
});

Deno.test("http measures from when a request has its socket to the end of the body", async () => {
  await using context = actionContext();
  let ticks = 1000;
  const host = { ...context.host, clock: { ...context.host.clock, ticks: () => ticks } };
  await using server = rawServer(async (connection) => {
    await connection.request();
    await connection.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na");
    ticks += 250;
    await connection.send("b");
    await connection.closed();
  });
  assertEquals((await runHttp({ get: server.url }, { ...context, host })).elapsed, 250);
});
