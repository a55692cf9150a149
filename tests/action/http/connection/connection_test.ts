import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createServer } from "node:http";
import { join } from "@std/path/join";
import type { ActionContext, Dict } from "../../../../src/action/action.ts";
import { runHttp } from "../../../../src/action/http/run_http.ts";
import { StepError } from "../../../../src/base/errors.ts";
import { actionContext } from "../../../support/action_context.ts";
import { httpProxy, socksProxy } from "../../../support/servers/proxies.ts";
import { rawServer } from "../../../support/servers/raw_server.ts";
import { withServer } from "../../../support/servers/with_server.ts";
import { tlsCertificate, tlsText } from "../../../support/servers/tls_fixture.ts";

const TLS = tlsCertificate("good");
const TRUSTED = { tls: { ca: tlsText("authority.pem"), server_name: "localhost" } };

/** A context whose environment has these variables alone. */
function withEnv(context: ActionContext, env: Readonly<Record<string, string>>): ActionContext {
  const get = (name: string) => env[name];
  const host = { ...context.host, env: { get, all: () => env, remove: () => {} } };
  return { ...context, host };
}

function answer(request: Request): Response {
  return Response.json({ url: request.url, host: request.headers.get("host") });
}

Deno.test("http sends plain requests through a proxy, with its user", async () => {
  await using context = actionContext();
  await using server = withServer(answer);
  await using proxy = await httpProxy({ user: "ann:t0p" });
  const at = `127.0.0.1:${proxy.port}`;
  const url = `http://127.0.0.1:${server.port}/a?b=1`;
  const { res } = await runHttp({ get: url, proxy: `http://ann:t0p@${at}` }, context);
  assertEquals((res.body as Dict).url, url);
  assertEquals(proxy.asked, [`GET ${url}`]);
  assertEquals(context.learned, ["t0p"]);
  const refused = await runHttp({ get: url, proxy: at }, context);
  assertEquals(refused.res.code, 407);
});

for (const kind of ["http", "https", "socks5"] as const) {
  Deno.test(`http reaches a TLS server through a tunnel of a proxy: ${kind}`, async () => {
    await using context = actionContext();
    await using server = withServer(answer, TLS);
    await using proxy = kind === "socks5"
      ? await socksProxy({ user: "ann:t0p" })
      : await httpProxy({ user: "ann:t0p", ...kind === "https" ? { tls: TLS } : {} });
    const params = {
      url: `https://shop.test:${server.port}`,
      proxy: `${kind}://ann:t0p@127.0.0.1:${proxy.port}`,
      ...TRUSTED,
    };
    // A request that is not safe uses its own connection.
    for (const method of ["get", "get", "post"]) {
      const { res } = await runHttp({ [method]: "/x", ...params }, context);
      assertEquals((res.body as Dict).host, `shop.test:${server.port}`);
      assertEquals((res.tls as { certificate: Dict }).certificate.subject, "CN=good");
    }
    const place = `shop.test:${server.port}`;
    assertEquals(proxy.asked, Array(2).fill(kind === "socks5" ? place : `CONNECT ${place}`));
  });
}

Deno.test("http reaches a plain server through a SOCKS5 proxy", async () => {
  await using context = actionContext();
  await using server = withServer(answer);
  await using proxy = await socksProxy();
  const get = `http://127.0.0.1:${server.port}/`;
  const { res } = await runHttp({ get, proxy: `socks5://127.0.0.1:${proxy.port}` }, context);
  assertEquals((res.body as Dict).url, get);
  assertEquals(proxy.asked, [`127.0.0.1:${server.port}`]);
});

Deno.test("http explains a proxy that does not let a connection through", async () => {
  await using context = actionContext();
  const cases = [
    [
      "http",
      await httpProxy({ user: "ann:t0p" }),
      "refused to connect to shop.test port 443: 407 Proxy Authentication Required",
    ],
    [
      "http",
      await httpProxy({ refuse: "403 Filtered" }),
      "refused to connect to shop.test port 443: 403 Filtered",
    ],
    [
      "socks5",
      await socksProxy({ reply: 5 }),
      "cannot connect to shop.test port 443: connection refused (SOCKS5 5)",
    ],
    ["socks5", await socksProxy({ user: "ann:t0p" }), "wants another way to sign in"],
  ] as const;
  for (const [kind, proxy, words] of cases) {
    await using _ = proxy;
    const params = { get: "https://shop.test/", proxy: `${kind}://127.0.0.1:${proxy.port}` };
    await assertRejects(
      () => runHttp(params, context),
      StepError,
      `cannot send GET "https://shop.test/": the proxy 127.0.0.1 port ${proxy.port} ${words}`,
    );
  }
});

Deno.test("http names the proxy that does not answer", async () => {
  await using context = actionContext();
  for (const scheme of ["http", "https"]) {
    await assertRejects(
      () => runHttp({ get: `${scheme}://shop.test/`, proxy: "127.0.0.1:1" }, context),
      StepError,
      `cannot send GET "${scheme}://shop.test/": the proxy 127.0.0.1 port 1 refused the connection (ECONNREFUSED)`,
    );
  }
  const error = await assertRejects(
    () => runHttp({ get: "http://shop.test/", proxy: "ftp://127.0.0.1" }, context),
    StepError,
    '"proxy" is not the URL of a proxy: "ftp://127.0.0.1"',
  );
  assertEquals(error.details.parameter, "proxy");
});

Deno.test("http names what failed: the proxy, or the server at the end of its tunnel", async () => {
  await using context = actionContext();
  await using garbage = rawServer(async (connection) => {
    await connection.request();
    await connection.send("220 no HTTP\r\n");
  });
  await using socks = await socksProxy();
  const { url, port } = garbage;
  const cases = [
    [`http://127.0.0.1:${port}`, `the answer of the proxy 127.0.0.1 port ${port} is not HTTP`],
    [
      `socks5://127.0.0.1:${socks.port}`,
      `the answer of 127.0.0.1 port ${port} (through the proxy 127.0.0.1 port ${socks.port}) is not HTTP`,
    ],
  ] as const;
  for (const [proxy, words] of cases) {
    await assertRejects(() => runHttp({ get: url, proxy }, context), StepError, words);
  }
});

Deno.test("http ends a tunnel that a proxy does not open in time", async () => {
  await using context = actionContext();
  const listener = Deno.listen({ port: 0, hostname: "127.0.0.1" });
  const accepted = listener.accept();
  const { port } = listener.addr as Deno.NetAddr;
  const params = { get: "https://shop.test/", proxy: `127.0.0.1:${port}`, timeout: "400ms" };
  await assertRejects(
    () => runHttp(params, context),
    StepError,
    `the request timed out after 400ms while connecting to the proxy 127.0.0.1 port ${port}`,
  );
  const connection = await accepted;
  const buffer = new Uint8Array(1000);
  while (await connection.read(buffer)) { /* until the program closes it */ }
  connection.close();
  listener.close();
});

Deno.test("http takes the proxy of the environment, but not for this machine nor against the step", async () => {
  await using context = actionContext();
  await using server = withServer(answer);
  await using proxy = await httpProxy();
  const env = { HTTP_PROXY: `http://127.0.0.1:${proxy.port}` };
  const proxied = withEnv(context, env);
  const local = `http://127.0.0.1:${server.port}/`;
  assertEquals((await runHttp({ get: local }, proxied)).res.code, 200);
  assertEquals(proxy.asked, []);
  assertEquals((await runHttp({ get: "http://shop.invalid/" }, proxied)).res.code, 502);
  assertEquals(proxy.asked, ["GET http://shop.invalid/"]);
  await assertRejects(
    () => runHttp({ get: "http://shop.invalid/", proxy: "none" }, proxied),
    StepError,
    'cannot resolve host "shop.invalid"',
  );
});

Deno.test("http connects where resolve says; URL, Host and SNI stay", async () => {
  await using context = actionContext();
  await using server = withServer(answer, TLS);
  const params = {
    resolve: { "localhost:443": `127.0.0.1:${server.port}` },
    tls: { ca: tlsText("authority.pem") },
  };
  const { req, res } = await runHttp({ get: "https://localhost/x", ...params }, context);
  assertEquals(req.url, "https://localhost/x");
  assertEquals((res.body as Dict).host, "localhost");
  await assertRejects(
    () => runHttp({ get: "http://a.test/", resolve: { "a.test:80": "127.0.0.1:1" } }, context),
    StepError,
    "127.0.0.1 port 1 (for a.test port 80) refused the connection (ECONNREFUSED)",
  );
});

Deno.test("http connects to a Unix socket", async () => {
  await using context = actionContext();
  const directory = await Deno.makeTempDir();
  const path = join(directory, "s.sock");
  const server = createServer((request, response) => {
    response.end(`${request.headers.host} ${request.url}`);
  });
  await new Promise<void>((resolve) => server.listen(path, resolve));
  try {
    for (const _ of [1, 2]) {
      const { res } = await runHttp({ get: "http://docker/v1/info", unix_socket: path }, context);
      assertEquals(res.body, "docker /v1/info");
    }
    await assertRejects(
      () => runHttp({ get: "http://docker/", unix_socket: join(directory, "none") }, context),
      StepError,
      `the socket "${join(directory, "none")}" does not exist (ENOENT)`,
    );
    const permissions = { net: [{ host: "docker", below: false }], read: [], write: [] };
    await assertRejects(
      () => runHttp({ get: "http://docker/", unix_socket: path }, { ...context, permissions }),
      StepError,
      `to the socket "${path}": --allow-read does not name '${path}'`,
    );
  } finally {
    server.closeAllConnections();
    server.close();
    await Deno.remove(directory, { recursive: true });
  }
});

Deno.test("http connects from an address and with a version of IP", async () => {
  await using context = actionContext();
  await using server = withServer((_request, { remoteAddr }) =>
    new Response((remoteAddr as Deno.NetAddr).hostname)
  );
  const get = `http://localhost:${server.port}/`;
  const { res } = await runHttp({ get, ip: 4, local_address: "127.0.0.9" }, context);
  assertEquals(res.body, "127.0.0.9");
  await assertRejects(() => runHttp({ get, ip: 5 }, context), StepError, '"ip" must be 4 or 6');
  const error = await assertRejects(
    () => runHttp({ get, local_address: "192.0.2.77" }, context),
    StepError,
    `no connection to localhost port ${server.port} from here`,
  );
  assertEquals(error.hint, 'this machine has to have the "local_address"');
});

Deno.test("http needs permission for the URL and for where it really connects", async () => {
  await using context = actionContext();
  await using proxy = await httpProxy();
  const only = (host: string) => ({ ...context, permissions: { net: [{ host, below: false }] } });
  const params = { get: "http://shop.test/", proxy: `127.0.0.1:${proxy.port}` };
  await assertRejects(
    () => runHttp(params, only("127.0.0.1")),
    StepError,
    "--allow-net does not name shop.test port 80",
  );
  await assertRejects(
    () => runHttp(params, only("shop.test")),
    StepError,
    `to the proxy 127.0.0.1 port ${proxy.port}: --allow-net does not name 127.0.0.1 port ${proxy.port}`,
  );
  await assertRejects(
    () =>
      runHttp(
        { get: "http://shop.test/", resolve: { "shop.test:80": "10.0.0.7:81" } },
        only("shop.test"),
      ),
    StepError,
    "--allow-net does not name 10.0.0.7 port 81",
  );
  assertEquals(proxy.asked, []);
});

Deno.test("res.tls describes the connection, also with a certificate that is not verified", async () => {
  await using context = actionContext();
  const clock = { ...context.host.clock, now: () => Date.parse("2026-11-22T12:00:00Z") };
  await using server = withServer(() => new Response("in"), {
    ...tlsCertificate("expired"),
  });
  const { res } = await runHttp({ get: server.url, tls: { verify: false } }, {
    ...context,
    host: { ...context.host, clock },
  });
  const { protocol, cipher, certificate } = res.tls as Record<string, Dict | string>;
  assertEquals(protocol, "TLSv1.3");
  assertStringIncludes(String(cipher), "TLS_AES");
  const { sha256, serial, ...rest } = certificate as Dict;
  assertEquals([String(sha256).length, typeof serial], [64, "string"]);
  assertEquals(rest, {
    subject: "CN=expired",
    issuer: "CN=Test CA",
    names: ["localhost", "127.0.0.1"],
    not_before: "2020-01-01T00:00:00.000Z",
    not_after: "2025-03-01T00:00:00.000Z",
    days_left: -632,
  });
});
