import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { ActionContext } from "../../../../src/action/action.ts";
import { http } from "../../../../src/actions/http/http.ts";
import { runHttp } from "../../../../src/actions/http/run_http.ts";
import { Resources } from "../../../../src/action/resource_scope.ts";
import { StepError } from "../../../../src/base/errors.ts";
import type { Dict } from "../../../../src/base/value/value.ts";
import { actionContext } from "../../../support/action_context.ts";
import { withServer } from "../../../support/servers/with_server.ts";
import { withFiles } from "../../../support/temp_dir.ts";

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

/** A server that sets the cookies of `?set=…`, redirects to `?to=…`, and shows what it was sent. */
function cookieServer() {
  return withServer((request) => {
    const { searchParams } = new URL(request.url);
    const headers = new Headers();
    for (const cookie of searchParams.getAll("set")) headers.append("set-cookie", cookie);
    const to = searchParams.get("to");
    if (to !== null) headers.set("location", to);
    const sent = request.headers.get("cookie") ?? "none";
    return new Response(sent, { status: to === null ? 200 : 302, headers });
  });
}

/** Sends requests one after the other in a job, and returns what cookies the server saw. */
async function visit(...steps: readonly Dict[]): Promise<unknown[]> {
  await using context = actionContext();
  await using server = cookieServer();
  const seen: unknown[] = [];
  for (const step of steps) {
    seen.push((await runHttp({ url: server.url, ...step }, context)).res.body);
  }
  return seen;
}

const set = (...cookies: string[]): Dict => ({ get: "/a/set", query: { set: cookies } });

const CASES: readonly (readonly [string, readonly Dict[], string])[] = [
  [
    "keeps cookies and sends them back",
    [set("sid=1; Path=/", "lang=de; Path=/")],
    "sid=1; lang=de",
  ],
  ["sends a cookie to its path alone", [set("a=1; Path=/", "b=2; Path=/other")], "a=1"],
  ["replaces a cookie of the same name", [set("a=1; Path=/"), set("a=2; Path=/")], "a=2"],
  ["forgets a cookie that expires", [set("a=1; Path=/"), set("a=1; Path=/; Max-Age=0")], "none"],
  ["keeps no cookie of another domain", [set("a=1; Path=/; Domain=example.com")], "none"],
  ["keeps a cookie that a redirect sets", [
    { get: "/a/set", query: { set: "r=1; Path=/", to: "/b" } },
  ], "r=1"],
  ["keeps nothing where cookies are off", [{ ...set("a=1; Path=/"), cookies: false }], "none"],
];

for (const [what, steps, expected] of CASES) {
  Deno.test(`http ${what}`, async () => {
    const seen = await visit(...steps, { get: "/read" });
    assertEquals(seen.at(-1), expected);
  });
}

Deno.test("http adds stored cookies of other names to the header Cookie of a step; nil sends none", async () => {
  const seen = await visit(
    set("a=1; Path=/"),
    { get: "/", headers: { cookie: "b=2" } },
    { get: "/", headers: { cookie: "b=2; a=3" } },
    { get: "/", headers: { Cookie: null } },
    { get: "/", cookies: false },
    { get: "/" },
  );
  assertEquals(seen, ["none", "b=2; a=1", "b=2; a=3", "none", "none", "a=1"]);
});

Deno.test("http sends a redirect the cookies that it just set, and no others elsewhere", async () => {
  await using other = cookieServer();
  const elsewhere = other.url.replace("127.0.0.1", "localhost");
  const [here, there] = await visit(
    { get: "/", query: { set: "sid=1; Path=/", to: "/next" } },
    { get: "/", query: { to: `${elsewhere}/next` } },
  );
  assertEquals([here, there], ["sid=1", "none"]);
});

Deno.test("req has the cookies that were sent", async () => {
  await using context = actionContext();
  await using server = cookieServer();
  await runHttp({ url: server.url, ...set("a=1; Path=/") }, context);
  const { req } = await runHttp({ get: server.url }, context);
  assertEquals((req.headers as Dict).Cookie, "a=1");
});

Deno.test("res.cookies has a record for each cookie, those of redirects first", async () => {
  await using context = actionContext();
  await using server = cookieServer();
  const next = "/x/y?set=plain%3D2";
  const { res } = await runHttp({
    url: server.url,
    get: "/",
    query: {
      set:
        "sid=a%20b; Path=/p; Expires=Wed, 21 Oct 2099 07:28:00 GMT; HttpOnly; Secure; SameSite=lax",
      to: next,
    },
  }, context);
  const host = { domain: "127.0.0.1" };
  assertEquals(res.cookies, [{
    name: "sid",
    value: "a%20b",
    ...host,
    path: "/p",
    expires: "2099-10-21T07:28:00.000Z",
    http_only: true,
    secure: true,
    same_site: "Lax",
    raw:
      "sid=a%20b; Path=/p; Expires=Wed, 21 Oct 2099 07:28:00 GMT; HttpOnly; Secure; SameSite=lax",
  }, {
    name: "plain",
    value: "2",
    ...host,
    path: "/x",
    expires: null,
    http_only: false,
    secure: false,
    same_site: null,
    raw: "plain=2",
  }]);
});

/** Another job of the same run. */
function otherJob(context: ActionContext): ActionContext {
  return { ...context, scope: { ...context.scope, job: new Resources() } };
}

Deno.test("http shares the cookies of a name among jobs, and no others", async () => {
  await using context = actionContext();
  await using server = cookieServer();
  const get = server.url;
  const other = otherJob(context);
  await runHttp({ url: get, ...set("own=1; Path=/") }, context);
  await runHttp({ url: get, ...set("shared=1; Path=/"), cookies: "shop" }, context);
  const seen = [];
  for (const cookies of [true, "shop", "elsewhere"]) {
    seen.push((await runHttp({ get, cookies }, other)).res.body);
  }
  assertEquals(seen, ["none", "shared=1", "none"]);
});

Deno.test("http reads a Netscape cookie file", async () => {
  await withFiles({}, async (directory) => {
    await using context = actionContext();
    await using server = cookieServer();
    const path = `${directory}/cookies.txt`;
    await Deno.writeTextFile(
      path,
      [
        "# Netscape HTTP Cookie File",
        "",
        "127.0.0.1\tFALSE\t/\tFALSE\t0\tsid\tsession-of-a-file",
        "#HttpOnly_127.0.0.1\tFALSE\t/\tFALSE\t4102444800\tlater\t1",
        "127.0.0.1\tFALSE\t/\tFALSE\t1\tpast\t1",
        ".example.com\tTRUE\t/\tTRUE\t0\tother\t1",
      ].join("\r\n"),
    );
    const read = { get: server.url, cookie_file: path };
    assertEquals((await runHttp(read, context)).res.body, "sid=session-of-a-file; later=1");
    assertEquals(context.learned.includes("session-of-a-file"), true);
    await runHttp({ url: server.url, ...set("sid=new; Path=/"), cookie_file: path }, context);
    assertEquals((await runHttp(read, context)).res.body, "sid=new; later=1");
  });
});

Deno.test("http names a cookie file that is missing, and a line of one that is malformed", async () => {
  await withFiles({}, async (directory) => {
    await using context = actionContext();
    const read = (path: string) =>
      assertRejects(
        () => runHttp({ get: "http://127.0.0.1:1/", cookie_file: path }, context),
        StepError,
      );
    const missing = await read(`${directory}/no.txt`);
    assertStringIncludes(missing.message, `cannot read the cookie file "${directory}/no.txt"`);
    assertStringIncludes(missing.message, "(ENOENT)");
    const path = `${directory}/bad.txt`;
    await Deno.writeTextFile(path, "# comment\nsid=1; Path=/\n");
    const malformed = await read(path);
    assertEquals(
      malformed.message,
      `cannot read the cookie file "${path}": line 2 is not a cookie`,
    );
    assertEquals(malformed.details.parameter, "cookie_file");
  });
});

Deno.test("http checks that its cookies fit together", () => {
  const messages = (params: Dict) =>
    http.problems!({ get: "http://localhost/", ...params }).map(({ message }) => message);
  assertEquals(messages({ cookies: "" }), [
    '"cookies" must be true, false or the name of a session, not an empty text',
  ]);
  assertEquals(messages({ cookies: false, cookie_file: "c.txt" }), [
    '"cookie_file" needs cookies, and "cookies" switches them off',
  ]);
  assertEquals(messages({ cookies: "{{vars.jar}}", cookie_file: "c.txt" }), []);
});
