import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { ActionContext } from "../../../../src/action/action.ts";
import { runHttp } from "../../../../src/action/http/run_http.ts";
import { checkHttp } from "../../../../src/action/http/request/check_http.ts";
import { Resources } from "../../../../src/action/resource_scope.ts";
import { StepError } from "../../../../src/base/errors.ts";
import type { Dict } from "../../../../src/base/value/value.ts";
import { actionContext } from "../../../support/action_context.ts";
import { withFiles } from "../../../support/temp_dir.ts";
import { withServer } from "../../../support/servers/with_server.ts";

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

Deno.test("http sends exactly the header Cookie that a step gives, also none", async () => {
  const seen = await visit(
    set("a=1; Path=/"),
    { get: "/", headers: { cookie: "b=2" } },
    { get: "/", headers: { Cookie: null } },
    { get: "/", cookies: false },
    { get: "/" },
  );
  assertEquals(seen, ["none", "b=2", "none", "none", "a=1"]);
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
    checkHttp({ get: "http://localhost/", ...params }).map(({ message }) => message);
  assertEquals(messages({ cookies: "" }), [
    '"cookies" must be true, false or the name of a session, not an empty text',
  ]);
  assertEquals(messages({ cookies: false, cookie_file: "c.txt" }), [
    '"cookie_file" needs cookies, and "cookies" switches them off',
  ]);
  assertEquals(messages({ cookies: "{{vars.jar}}", cookie_file: "c.txt" }), []);
});
