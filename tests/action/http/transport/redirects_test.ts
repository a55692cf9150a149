import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { runHttp } from "../../../../src/action/http/run_http.ts";
import { StepError } from "../../../../src/base/errors.ts";
import type { Dict } from "../../../../src/base/value/value.ts";
import { actionContext } from "../../../support/action_context.ts";
import { withServer } from "../../../support/servers/with_server.ts";

/** A request as the server received it. */
interface Seen {
  readonly line: string;
  readonly body: string;
  readonly headers: Headers;
}

/** Answers `/<code>?<location>` with that redirect and anything else with 200. */
function redirector(seen: Seen[]) {
  return withServer(async (request) => {
    const url = new URL(request.url);
    const body = await request.text();
    seen.push({ line: `${request.method} ${url.pathname}`, body, headers: request.headers });
    const code = Number(url.pathname.slice(1));
    if (!(code > 300)) return new Response("there");
    const location = decodeURIComponent(url.search.slice(1));
    const headers: HeadersInit = location ? { location } : {};
    return new Response(code === 304 ? null : "moved", { status: code, headers });
  });
}

async function go(
  params: Dict,
  secrets: readonly string[] = [],
): Promise<{ readonly res: Dict; readonly seen: readonly Seen[] }> {
  const seen: Seen[] = [];
  await using context = actionContext();
  for (const secret of secrets) context.secrets.add(secret);
  await using server = redirector(seen);
  const { res } = await runHttp({ url: server.url, ...params }, context);
  return { res, seen };
}

const METHODS: readonly (readonly [code: number, method: string, then: string, body: string])[] = [
  [301, "POST", "GET", ""],
  [301, "PUT", "PUT", "data"],
  [302, "POST", "GET", ""],
  [302, "DELETE", "DELETE", "data"],
  [303, "POST", "GET", ""],
  [303, "PUT", "GET", ""],
  [307, "POST", "POST", "data"],
  [308, "PATCH", "PATCH", "data"],
];

for (const [code, method, then, body] of METHODS) {
  Deno.test(`http follows a ${code} of ${method} with ${then}`, async () => {
    const { res, seen } = await go({
      [method.toLowerCase()]: `/${code}?%2Fthere`,
      body: "data",
      headers: { "content-type": "text/plain", authorization: "Bearer x", "x-a": "1" },
    });
    assertEquals(res.body, "there");
    assertEquals(seen.map(({ line }) => line), [`${method} /${code}`, `${then} /there`]);
    const last = seen[1]!;
    assertEquals(last.body, body);
    assertEquals(last.headers.get("content-type"), body ? "text/plain" : null);
    assertEquals([last.headers.get("authorization"), last.headers.get("x-a")], ["Bearer x", "1"]);
  });
}

Deno.test("http gives the last URL and each redirect that it followed", async () => {
  await using context = actionContext();
  await using server = redirector([]);
  const { res } = await runHttp({ get: `${server.url}/302?%2F301%3F%252Fthere` }, context);
  assertEquals([res.url, res.redirects], [`${server.url}/there`, [
    { code: 302, url: `${server.url}/302?%2F301%3F%252Fthere`, location: "/301?%2Fthere" },
    { code: 301, url: `${server.url}/301?%2Fthere`, location: "/there" },
  ]]);
  const direct = await runHttp({ get: `${server.url}/there` }, context);
  assertEquals([direct.res.url, direct.res.redirects], [`${server.url}/there`, []]);
});

Deno.test("http follows a redirect of HEAD with HEAD", async () => {
  const { seen } = await go({ head: "/303?%2Fthere" });
  assertEquals(seen.map(({ line }) => line), ["HEAD /303", "HEAD /there"]);
});

Deno.test("http takes no credentials to another origin", async () => {
  const seen: Seen[] = [];
  await using other = redirector(seen);
  const { res } = await go({
    get: `/302?${encodeURIComponent(`${other.url}/there`)}`,
    headers: {
      authorization: "Bearer x",
      cookie: "a=1",
      "proxy-authorization": "Basic eDp5",
      host: "example.test",
      "x-api-key": "k",
      "x-auth-token": "t",
      "x-trace": "of-known-secret-1",
      "x-a": "1",
    },
  }, ["known-secret"]);
  assertEquals(res.code, 200);
  const { headers } = seen[0]!;
  assertEquals(
    [
      "authorization",
      "cookie",
      "proxy-authorization",
      "x-api-key",
      "x-auth-token",
      "x-trace",
      "x-a",
      "host",
    ].map((name) => headers.get(name)),
    [null, null, null, null, null, null, "1", `127.0.0.1:${other.port}`],
  );
});

const AS_THEY_ARE: readonly (readonly [what: string, params: Dict])[] = [
  ["with follow_redirects: false", { get: "/302?%2Fthere", follow_redirects: false }],
  ["without a location", { get: "/302" }],
  ["of another kind", { get: "/304?%2Fthere" }],
];

for (const [what, params] of AS_THEY_ARE) {
  Deno.test(`http gives a redirect ${what} as the response`, async () => {
    const { res, seen } = await go(params);
    assertEquals([seen.length, String(res.code)], [1, String(params.get).slice(1, 4)]);
  });
}

Deno.test("http follows as many redirects as it may, and no more", async () => {
  let requests = 0;
  await using context = actionContext();
  await using server = withServer(() => {
    requests++;
    return new Response(null, { status: 302, headers: { location: "/again" } });
  });
  const loop = { get: server.url };
  for (const [max, sent] of [[undefined, 11], [2, 3], [0, 1]] as const) {
    requests = 0;
    const params = max === undefined ? loop : { ...loop, max_redirects: max };
    const error = await assertRejects(
      () => runHttp(params, context),
      StepError,
      `GET "${server.url}/" was redirected more than ${
        max ?? 10
      } times, the next to "${server.url}/again"`,
    );
    assertEquals(requests, sent);
    const isLoop = max !== 0;
    assertStringIncludes(
      error.hint!,
      isLoop ? 'redirect loop; "follow_redirects: false" shows' : 'raise "max_redirects"',
    );
  }
});

Deno.test("http takes no form that is answered by its own page for a loop", async () => {
  await using context = actionContext();
  await using server = withServer(({ url }) => Response.redirect(url, 303));
  for (
    const [max, hint] of [[0, 'raise "max_redirects"'], [
      1,
      'redirect loop; "follow_redirects: false" shows',
    ]] as const
  ) {
    const params = { post: `${server.url}/form`, max_redirects: max };
    const error = await assertRejects(() => runHttp(params, context), StepError);
    assertStringIncludes(error.hint!, hint);
  }
});

Deno.test("http says where a redirect leads that it cannot follow", async () => {
  for (
    const [location, message] of [
      ["ftp://h/x", 'to "ftp://h/x": the scheme "ftp://" of "ftp://h/x" is not supported'],
      ["http://a b/", 'to "http://a b/": invalid URL "http://a b/"'],
    ] as const
  ) {
    await assertRejects(
      () => go({ get: `/302?${encodeURIComponent(location)}` }),
      StepError,
      message,
    );
  }
});
