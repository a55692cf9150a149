import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { hash } from "node:crypto";
import type { ActionContext } from "../../../../src/action/action.ts";
import {
  bestChallenge,
  digestHeader,
  findLogin,
} from "../../../../src/actions/http/auth/sign_in.ts";
import { http } from "../../../../src/actions/http/http.ts";
import { runHttp } from "../../../../src/actions/http/run_http.ts";
import { StepError } from "../../../../src/base/errors.ts";
import type { Dict } from "../../../../src/base/value/value.ts";
import { actionContext, type TestContext } from "../../../support/action_context.ts";
import { fakeClock } from "../../../support/fake_clock.ts";
import { type DigestOptions, digestServer } from "../../../support/servers/digest_server.ts";
import { withServer } from "../../../support/servers/with_server.ts";
import { withFiles } from "../../../support/temp_dir.ts";

interface Options {
  readonly expires?: number;
  /** The response of the token endpoint instead of a token. */
  readonly refuses?: () => Response | undefined;
  /** Held until it resolves. */
  readonly gate?: Promise<void>;
}

/** An authorization server and an API in one: only the last token is valid. */
function apiServer({ expires, refuses, gate }: Options = {}) {
  const reached = Promise.withResolvers<void>();
  const asked: { readonly form: Dict; readonly authorization: string }[] = [];
  const revoked = new Set<string>();
  const server = withServer(async (request) => {
    const authorization = request.headers.get("authorization") ?? "none";
    if (new URL(request.url).pathname === "/token") {
      asked.push({
        form: Object.fromEntries(new URLSearchParams(await request.text())),
        authorization,
      });
      reached.resolve();
      await gate;
      const n = asked.length;
      return refuses?.() ?? Response.json({
        access_token: `access-token-${n}`,
        token_type: "Bearer",
        ...expires === undefined ? {} : { expires_in: expires },
        refresh_token: `refresh-token-${n}`,
      });
    }
    const isGood = authorization.startsWith("Bearer access-token-") && !revoked.has(authorization);
    return new Response(authorization, { status: isGood ? 200 : 401 });
  });
  return { ...server, asked, revoked, reached: reached.promise };
}

const CLIENT = { client_id: "client 1", client_secret: "secret:1" };

function get(server: { readonly url: string }, oauth2: Dict = {}): Dict {
  const token_url = `${server.url}/token`;
  return { get: server.url, auth: { oauth2: { token_url, ...CLIENT, ...oauth2 } } };
}

async function bodyOf(params: Dict, context: ActionContext): Promise<unknown> {
  return (await runHttp(params, context)).res.body;
}

Deno.test("http fetches a token once for a run", async () => {
  await using context = actionContext();
  await using server = apiServer();
  for (let n = 0; n < 3; n++) {
    assertEquals(await bodyOf(get(server), context), "Bearer access-token-1");
  }
  assertEquals(server.asked, [{
    form: { grant_type: "client_credentials" },
    authorization: `Basic ${btoa("client+1:secret%3A1")}`,
  }]);
  for (const secret of ["secret:1", "access-token-1", "refresh-token-1"]) {
    assertEquals(context.learned.includes(secret), true, secret);
  }
});

const FORMS: readonly (readonly [oauth2: Dict, form: Dict])[] = [
  [
    { send: "body", scope: "read write", audience: "api" },
    {
      grant_type: "client_credentials",
      scope: "read write",
      audience: "api",
      client_id: "client 1",
      client_secret: "secret:1",
    },
  ],
  [
    { grant: "password", username: "ann", password: "pass word", scope: ["a", "b"] },
    { grant_type: "password", username: "ann", password: "pass word", scope: "a b" },
  ],
  [
    { grant: "refresh_token", refresh_token: "r", client_secret: null, resource: "https://x/" },
    {
      grant_type: "refresh_token",
      refresh_token: "r",
      resource: "https://x/",
      client_id: "client 1",
    },
  ],
];

for (const [oauth2, form] of FORMS) {
  Deno.test(`http asks for a token with ${JSON.stringify(form)}`, async () => {
    await using context = actionContext();
    await using server = apiServer();
    assertEquals(await bodyOf(get(server, oauth2), context), "Bearer access-token-1");
    assertEquals(server.asked.map(({ form }) => form), [form]);
  });
}

Deno.test("steps that need a token at the same time share one fetch", async () => {
  await using context = actionContext();
  const gate = Promise.withResolvers<void>();
  await using server = apiServer({ gate: gate.promise });
  const steps = Array.from({ length: 5 }, () => bodyOf(get(server), context));
  gate.resolve();
  assertEquals(new Set(await Promise.all(steps)), new Set(["Bearer access-token-1"]));
  assertEquals(server.asked.length, 1);
});

Deno.test("a step that is stopped while it fetches a token does not fail those that wait for it", async () => {
  await using context = actionContext();
  await using other = actionContext();
  const gate = Promise.withResolvers<void>();
  await using server = apiServer({ gate: gate.promise });
  const shared = { ...other, scope: { ...other.scope, run: context.scope.run } };
  const first = bodyOf(get(server), context);
  const second = bodyOf(get(server), shared);
  await server.reached;
  context.stop(new StepError("it timed out"));
  await assertRejects(() => first, StepError, "it timed out");
  gate.resolve();
  assertEquals(await second, "Bearer access-token-2");
});

Deno.test("a token that is refused is replaced once", async () => {
  await using context = actionContext();
  await using server = apiServer();
  await bodyOf(get(server), context);
  server.revoked.add("Bearer access-token-1");
  assertEquals(await bodyOf(get(server), context), "Bearer access-token-2");
  for (const n of [2, 3, 4]) server.revoked.add(`Bearer access-token-${n}`);
  const { res } = await runHttp(get(server), context);
  assertEquals([res.code, server.asked.length], [401, 3]);
});

Deno.test("a token is replaced shortly before it expires", async () => {
  await using context = actionContext();
  await using server = apiServer({ expires: 100 });
  const clock = fakeClock();
  const timed = { ...context, host: { ...context.host, clock } };
  await bodyOf(get(server), timed);
  clock.advance(80_000);
  assertEquals(await bodyOf(get(server), timed), "Bearer access-token-1");
  clock.advance(15_000);
  assertEquals(await bodyOf(get(server), timed), "Bearer access-token-2");
});

Deno.test("a refresh token that was replaced is not sent again", async () => {
  await using context = actionContext();
  await using server = apiServer({ expires: 0 });
  const step = get(server, { grant: "refresh_token", refresh_token: "refresh-token-0" });
  await bodyOf(step, context);
  await bodyOf(step, context);
  assertEquals(server.asked.map(({ form }) => form.refresh_token), [
    "refresh-token-0",
    "refresh-token-1",
  ]);
});

const REFUSALS: readonly (readonly [Response, message: string, hint: string])[] = [
  [
    Response.json({ error: "invalid_client", error_description: "unknown" }, { status: 401 }),
    "invalid_client: unknown (401 Unauthorized)",
    'check client_id and client_secret; some servers want them with "send: body"',
  ],
  [new Response("no", { status: 404 }), "404 Not Found", "check token_url"],
  [
    Response.json({ token: "x" }),
    'the response (200 OK) has no "access_token"',
    "check token_url",
  ],
];

for (const [response, message, hint] of REFUSALS) {
  Deno.test(`http says why there is no token: ${message}`, async () => {
    await using context = actionContext();
    await using server = apiServer({ refuses: () => response.clone() });
    const error = await assertRejects(() => runHttp(get(server), context), StepError);
    assertEquals(error.message, `cannot get a token from "${server.url}/token": ${message}`);
    assertStringIncludes(error.hint ?? "", hint);
    assertEquals(error.details.parameter, "auth");
  });
}

Deno.test("http names a token endpoint that cannot be reached", async () => {
  await using context = actionContext();
  await using server = apiServer();
  const step = get(server, { token_url: "http://127.0.0.1:1/token" });
  await assertRejects(
    () => runHttp(step, context),
    StepError,
    'cannot send POST "http://127.0.0.1:1/token": 127.0.0.1 port 1 refused the connection (ECONNREFUSED)',
  );
});

/** A server that redirects to `?to=…` and otherwise shows the authorization that it was sent. */
function echoServer(seen: string[] = []) {
  return withServer((request) => {
    const authorization = request.headers.get("authorization") ?? "none";
    seen.push(authorization);
    const to = new URL(request.url).searchParams.get("to");
    if (to !== null) return new Response(null, { status: 302, headers: { location: to } });
    return new Response(authorization);
  });
}

async function send(params: Dict, context?: TestContext): Promise<unknown> {
  await using fresh = actionContext();
  await using server = echoServer();
  return (await runHttp({ url: server.url, get: "/", ...params }, context ?? fresh)).res.body;
}

const basic = (credentials: string) => `Basic ${btoa(credentials)}`;

Deno.test("http signs in by basic and bearer", async () => {
  const login = { username: "ann", password: "pässword" };
  const bytes = String.fromCharCode(...new TextEncoder().encode("ann:pässword"));
  assertEquals(await send({ auth: { basic: login } }), basic(bytes));
  assertEquals(await send({ auth: { bearer: "token-1" } }), "Bearer token-1");
  assertEquals(await send({ auth: null }), "none");
});

Deno.test("http takes auth before user and password of the URL", async () => {
  await using context = actionContext();
  await using server = echoServer();
  const url = server.url.replace("//", "//bob:password-1@");
  const body = async (params: Dict) => (await runHttp({ get: url, ...params }, context)).res.body;
  assertEquals(await body({}), basic("bob:password-1"));
  assertEquals(await body({ auth: { bearer: "token-1" } }), "Bearer token-1");
});

Deno.test("http adds credentials to the secrets, except plain user names", async () => {
  await using context = actionContext();
  await send({ auth: { basic: { username: "docker", password: "password-1" } } }, context);
  await send({ auth: { basic: { username: "ann@example.com", password: "p2" } } }, context);
  await send({ auth: { bearer: "token-1" } }, context);
  assertEquals(context.learned, ["password-1", "ann@example.com", "p2", "token-1"]);
});

Deno.test("http signs in again on its own origin, and nowhere else, not even on the way back", async () => {
  await using context = actionContext();
  const [here, there]: string[][] = [[], []];
  await using other = echoServer(there);
  await using server = echoServer(here);
  const auth = { basic: { username: "ann", password: "password-1" } };
  const get = (to: string) =>
    runHttp({ get: `${server.url}/?to=${encodeURIComponent(to)}`, auth }, context);
  assertEquals((await get("/next")).res.body, basic("ann:password-1"));
  assertEquals((await get(`${other.url}/next`)).res.body, "none");
  const back = `${other.url}/?to=${encodeURIComponent(`${server.url}/back`)}`;
  assertEquals((await get(back)).res.body, "none");
  assertEquals(there, ["none", "none"]);
});

Deno.test("http reads .netrc, and URL credentials come first", async () => {
  const netrc = [
    "# hosts",
    "machine example.com login eve password other",
    "macdef init",
    "login nobody",
    "",
    "machine 127.0.0.1",
    '  login "ann b"',
    "  password #pass-word",
    "default login x password y",
  ].join("\n");
  await withFiles({ ".netrc": netrc }, async (home) => {
    await using context = actionContext();
    await using server = echoServer();
    const env = {
      get: (name: string) => name === "HOME" ? home : undefined,
      all: () => ({}),
      remove: () => {},
    };
    const there = { ...context, host: { ...context.host, env } };
    const body = async (get: string) =>
      (await runHttp({ get, auth: { netrc: true } }, there)).res.body;
    assertEquals(await body(server.url), basic("ann b:#pass-word"));
    assertEquals(context.learned.includes("#pass-word"), true);
    assertEquals(await body(server.url.replace("//", "//u:p@")), basic("u:p"));
    const missing = { ...there, host: { ...there.host, env: { ...env, get: () => `${home}/no` } } };
    const error = await assertRejects(
      () => runHttp({ get: server.url, auth: { netrc: true } }, missing),
      StepError,
    );
    assertStringIncludes(error.message, `cannot read the netrc file "${home}/no"`);
  });
  assertEquals(findLogin(netrc, "example.com"), { username: "eve", password: "other" });
  assertEquals(findLogin(netrc, "elsewhere"), { username: "x", password: "y" });
  assertEquals(findLogin("machine a login b", "a"), undefined);
});

const MISTAKES: readonly (readonly [auth: Dict, message: string])[] = [
  [{}, '"auth" has none of its keys'],
  [{ basic: { username: "a", password: "b" }, bearer: "c" }, '"auth" has "basic" and "bearer"'],
  [{ basic: { username: "a" } }, '"auth.basic" needs "password"'],
  [{ basic: { user: "a", password: "b" } }, 'unknown key "user" in "auth.basic"'],
  [{ basic: "a:b" }, '"auth.basic" must be a map'],
  [{ bearer: "" }, '"auth.bearer" is empty'],
  [{ hmac: {} }, 'unknown key "hmac" in "auth"'],
  [{ oauth2: { client_id: "c", client_secret: "s" } }, '"auth.oauth2" needs "token_url"'],
  [
    { oauth2: { token_url: "auth.example.com", client_id: "c", client_secret: "s" } },
    'invalid URL "auth.example.com"',
  ],
  [
    { oauth2: { token_url: "https://a/", client_id: "c" } },
    'the grant client_credentials needs "client_secret" in "auth.oauth2"',
  ],
  [
    { oauth2: { token_url: "https://a/", client_id: "c", grant: "pasword" } },
    'invalid value "pasword" for "auth.oauth2.grant"',
  ],
  [
    { oauth2: { token_url: "https://a/", client_id: "c", client_secret: "s", send: "query" } },
    'invalid value "query" for "auth.oauth2.send"',
  ],
];

for (const [auth, message] of MISTAKES) {
  Deno.test(`http refuses ${JSON.stringify(auth)}, before a run and in it`, async () => {
    const [problem] = http.problems!({ get: "http://localhost/", auth });
    assertStringIncludes(problem!.message, message);
    assertEquals(problem!.path[0], "auth");
    const error = await assertRejects(() => send({ auth }), StepError);
    assertStringIncludes(error.message, message);
    assertEquals(error.details.parameter, "auth");
  });
}

Deno.test("auth and the header Authorization cannot be combined", () => {
  const auth = { bearer: "t" };
  const messages = (headers: Dict) =>
    http.problems!({ get: "http://h/", auth, headers }).map(({ message }) => message);
  assertEquals(messages({ authorization: "x" }), [
    '"auth" and the header "authorization" cannot be combined',
  ]);
  assertEquals(messages({ authorization: null }), []);
});

Deno.test("the auth of a step replaces that of the defaults as a whole, and so does the header", () => {
  const defaults = { url: "u", auth: { basic: { username: "a", password: "b" } } };
  const merge = (params: Dict) => ({ ...http.merge!(defaults, params) });
  assertEquals(merge({ auth: { bearer: "t" } }), { url: "u", auth: { bearer: "t" } });
  assertEquals(merge({ auth: null }), { url: "u", auth: null });
  assertEquals(merge({ headers: { Authorization: null } }), {
    url: "u",
    headers: { Authorization: null },
  });
  assertEquals(merge({}), defaults);
  const merged = http.merge!({ headers: { authorization: "x", a: 1 } }, { auth: { bearer: "t" } });
  assertEquals(merged.headers, { a: 1 });
});

const OPTIONS: readonly DigestOptions[] = [
  {},
  { qop: "auth" },
  { algorithm: "MD5", qop: "auth" },
  { algorithm: "MD5-sess", qop: "auth, auth-int" },
  { algorithm: "MD5-sess" },
  { algorithm: "SHA-256", qop: "auth" },
  { algorithm: "SHA-256-sess", qop: "auth" },
  { algorithm: "SHA-256", qop: "auth-int" },
  { algorithm: "SHA-512-256", qop: "auth", userhash: true },
];

for (const options of OPTIONS) {
  Deno.test(`http signs in by digest with ${JSON.stringify(options)}`, async () => {
    await using context = actionContext();
    await using server = digestServer(options);
    const { username, password } = server;
    const auth = { digest: { username, password } };
    const get = `${server.url}/a%20b?x=1`;
    const first = await runHttp({ get, auth }, context);
    assertEquals(first.res.body, "welcome");
    const second = await runHttp({ post: get, body: "text", auth }, context);
    assertEquals(second.res.body, "welcome");
    // The challenge is known by the second request.
    assertEquals(server.codes, [401, 200, 200]);
    assertEquals(context.learned.includes(password), true);
  });
}

Deno.test("http answers a new challenge where the server has forgotten the old one", async () => {
  await using context = actionContext();
  await using server = digestServer({ qop: "auth", uses: 1 });
  const { username, password, url } = server;
  const step = { get: url, auth: { digest: { username, password } } };
  for (let n = 0; n < 2; n++) assertEquals((await runHttp(step, context)).res.code, 200);
  assertEquals(server.codes, [401, 200, 401, 200]);
});

Deno.test("http gives the 401 of a wrong digest after one attempt", async () => {
  await using context = actionContext();
  await using server = digestServer({ qop: "auth" });
  const auth = { digest: { username: server.username, password: "wrong-one" } };
  const { res, req } = await runHttp({ get: server.url, auth }, context);
  assertEquals([res.code, server.codes], [401, [401, 401]]);
  assertStringIncludes(JSON.stringify(req.headers), "Digest username");
});

/** The examples of RFC 7616, section 3.9.1, and of RFC 2617, section 3.5. */
const EXAMPLES = [
  {
    realm: "http-auth@example.org",
    algorithm: "MD5",
    nonce: "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
    cnonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
    password: "Circle of Life",
    response: "8ca523f5e9506fed4657c9700eebdbec",
  },
  {
    realm: "http-auth@example.org",
    algorithm: "SHA-256",
    nonce: "7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v",
    cnonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ",
    password: "Circle of Life",
    response: "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1",
  },
  {
    realm: "testrealm@host.com",
    nonce: "dcd98b7102dd2f0e8b11d0f600bfb0c093",
    cnonce: "0a4f113b",
    password: "Circle Of Life",
    response: "6629fae49393a05397450978507c4ef1",
  },
] as const;

for (const { cnonce, password, response, ...challenge } of EXAMPLES) {
  Deno.test(`digestHeader() gives the published response ${response.slice(0, 8)}…`, () => {
    const url = new URL("http://www.example.org/dir/index.html");
    const header = digestHeader(
      { method: "GET", url, headers: {} },
      { ...challenge, qop: "auth,auth-int" },
      { username: "Mufasa", password, count: 1, nonce: cnonce, hash },
    );
    assertStringIncludes(header, `response="${response}"`);
    assertStringIncludes(header, "qop=auth, nc=00000001");
  });
}

Deno.test("bestChallenge() takes the best algorithm among all headers and schemes", () => {
  const rawHeaders = [
    "WWW-Authenticate",
    'Negotiate, Basic realm="a, Digest nonce=1", Digest realm="r", nonce="n-1", algorithm=MD5',
    "www-authenticate",
    'digest nonce = "n-2",algorithm="SHA-256", qop="auth"',
    "WWW-Authenticate",
    'Digest nonce="n-3", algorithm=SHA-9',
  ];
  assertEquals(bestChallenge({ rawHeaders })?.nonce, "n-2");
  assertEquals(bestChallenge({ rawHeaders: ["WWW-Authenticate", "Negotiate"] }), undefined);
});
