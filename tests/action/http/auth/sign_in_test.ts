import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { checkAuth } from "../../../../src/action/http/auth/auth_parameter.ts";
import { findLogin } from "../../../../src/action/http/auth/netrc.ts";
import { http } from "../../../../src/action/http/http.ts";
import { runHttp } from "../../../../src/action/http/run_http.ts";
import { checkParameters } from "../../../../src/action/parameters.ts";
import { StepError } from "../../../../src/base/errors.ts";
import type { Dict } from "../../../../src/base/value/value.ts";
import { actionContext, type TestContext } from "../../../support/action_context.ts";
import { withFiles } from "../../../support/temp_dir.ts";
import { withServer } from "../../../support/servers/with_server.ts";

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
  await using own = actionContext();
  await using server = echoServer();
  return (await runHttp({ url: server.url, get: "/", ...params }, context ?? own)).res.body;
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
    'unknown grant "pasword"',
  ],
  [
    { oauth2: { token_url: "https://a/", client_id: "c", client_secret: "s", send: "query" } },
    '"auth.oauth2.send" must be "header" or "body", not "query"',
  ],
];

for (const [auth, message] of MISTAKES) {
  Deno.test(`http refuses ${JSON.stringify(auth)}, before a run and in it`, async () => {
    const [problem] = checkParameters(http, { get: "http://localhost/", auth });
    assertStringIncludes(problem!.message, message);
    assertEquals(problem!.path[0], "auth");
    const error = await assertRejects(() => send({ auth }), StepError);
    assertStringIncludes(error.message, message);
    assertEquals(error.details.parameter, "auth");
  });
}

Deno.test("auth and the header Authorization cannot be combined", () => {
  const auth = { bearer: "t" };
  const messages = (headers: Dict) => checkAuth({ auth, headers }).map(({ message }) => message);
  assertEquals(messages({ authorization: "x" }), [
    '"auth" and the header "authorization" cannot be combined',
  ]);
  assertEquals(messages({ authorization: null }), []);
});

Deno.test("the auth of a step replaces that of the defaults as a whole, and so does the header", () => {
  const defaults = { url: "u", auth: { basic: { username: "a", password: "b" } } };
  const merge = (own: Dict) => ({ ...http.merge!(defaults, own) });
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
