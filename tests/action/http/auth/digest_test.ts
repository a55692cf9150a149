import { assertEquals, assertStringIncludes } from "@std/assert";
import { hash } from "node:crypto";
import { bestChallenge, digestHeader } from "../../../../src/action/http/auth/digest.ts";
import { runHttp } from "../../../../src/action/http/run_http.ts";
import { actionContext } from "../../../support/action_context.ts";
import { type DigestOptions, digestServer } from "../../../support/servers/digest_server.ts";

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
