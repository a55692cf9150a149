import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { ActionContext } from "../../../../src/action/action.ts";
import { runHttp } from "../../../../src/action/http/run_http.ts";
import { StepError } from "../../../../src/base/errors.ts";
import type { Dict } from "../../../../src/base/value/value.ts";
import { actionContext } from "../../../support/action_context.ts";
import { fakeClock } from "../../../support/fake_clock.ts";
import { withServer } from "../../../support/servers/with_server.ts";

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
