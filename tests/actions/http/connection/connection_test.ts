import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { join } from "@std/path/join";
import { createServer } from "node:http";
import type { ActionContext, Dict } from "../../../../src/action/action.ts";
import { readExemptions } from "../../../../src/actions/http/connection/proxy.ts";
import { runHttp } from "../../../../src/actions/http/run_http.ts";
import { StepError } from "../../../../src/base/errors.ts";
import { actionContext } from "../../../support/action_context.ts";
import { httpProxy, socksProxy } from "../../../support/servers/proxies.ts";
import { rawServer } from "../../../support/servers/raw_server.ts";
import { tlsCertificate, tlsPath, tlsText } from "../../../support/servers/tls_fixture.ts";
import { withServer } from "../../../support/servers/with_server.ts";

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
    for (const method of ["get", "get", "post"]) {
      const { res } = await runHttp({ [method]: "/x", ...params }, context);
      assertEquals((res.body as Dict).host, `shop.test:${server.port}`);
      assertEquals((res.tls as { certificate: Dict }).certificate.subject, "CN=good");
    }
    const address = `shop.test:${server.port}`;
    assertEquals(proxy.asked, [kind === "socks5" ? address : `CONNECT ${address}`]);
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
  for (const [kind, proxy, message] of cases) {
    await using _ = proxy;
    const params = { get: "https://shop.test/", proxy: `${kind}://127.0.0.1:${proxy.port}` };
    await assertRejects(
      () => runHttp(params, context),
      StepError,
      `cannot send GET "https://shop.test/": the proxy 127.0.0.1 port ${proxy.port} ${message}`,
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
  for (const [proxy, message] of cases) {
    await assertRejects(() => runHttp({ get: url, proxy }, context), StepError, message);
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
  await assertRejects(
    () => runHttp({ get, ip: 5 }, context),
    StepError,
    'invalid value "5" for "ip"',
  );
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

/** `NO_PROXY`, what is reached without a proxy, and what is not; a port is 443 if not given. */
const CASES: readonly (readonly [string, readonly string[], readonly string[]])[] = [
  ["", ["localhost", "a.localhost", "127.0.0.1", "127.9.9.9", "[::1]"], [
    "example.com",
    "10.0.0.1",
  ]],
  ["example.com", ["example.com", "EXAMPLE.com", "example.com.", "a.b.example.com"], [
    "notexample.com",
    "example.com.evil.org",
    "com",
  ]],
  [".example.com", ["a.example.com", "a.b.example.com"], ["example.com", "aexample.com"]],
  ["*.example.com", ["a.example.com"], ["example.com"]],
  ["example.com:8443", ["example.com:8443", "a.example.com:8443"], [
    "example.com",
    "example.com:80",
  ]],
  [".example.com:80", ["a.example.com:80"], ["a.example.com", "example.com:80"]],
  ["10.0.0.7", ["10.0.0.7", "10.0.0.7:80"], ["10.0.0.70", "a.10.0.0.7.example"]],
  ["10.0.0.7:80", ["10.0.0.7:80"], ["10.0.0.7"]],
  ["10.0.0.0/8", ["10.0.0.1", "10.255.255.255"], ["11.0.0.1", "10.example.com", "[fd00::1]"]],
  ["192.168.1.0/30", ["192.168.1.3"], ["192.168.1.4"]],
  ["fd00::/8", ["[fd00::1]", "[fdff::2]"], ["[fe80::1]", "10.0.0.1"]],
  ["fd00::1", ["[fd00::1]"], ["[fd00::2]"]],
  ["[fd00::1]:8080", ["[fd00::1]:8080"], ["[fd00::1]", "[fd00::2]:8080"]],
  ["*", ["example.com", "10.0.0.1", "[fd00::1]"], []],
  [" a.example , ,b.example:80", ["a.example", "b.example:80"], ["b.example", "c.example"]],
];

for (const [rules, direct, proxied] of CASES) {
  Deno.test(`NO_PROXY="${rules}" decides what is reached without a proxy`, () => {
    const isExempt = readExemptions(rules);
    const found = (target: string) => {
      const [, host = "", port = "443"] = /^\[?(.*?)\]?(?::(\d+))?$/.exec(target) ?? [];
      const [, address, portText] = /^\[(.*)\](?::(\d+))?$/.exec(target) ?? [];
      return isExempt(address ?? host, Number(address === undefined ? port : portText ?? 443));
    };
    assertEquals(direct.filter((address) => !found(address)), []);
    assertEquals(proxied.filter(found), []);
  });
}

const FIXTURES = tlsPath("");

/** Node ends the connection where it refuses a certificate; other servers send a page. */
const SERVER = `
const { createServer } = require("node:https");
const { readFileSync } = require("node:fs");
const read = (name) => readFileSync(process.argv[1] + name + ".pem");
const options = { cert: read("good"), key: read("good_key"), ca: read("authority"), requestCert: true };
const server = createServer({ ...options, maxVersion: process.argv[2] }, (_, response) => response.end("in"));
server.listen(0, "127.0.0.1", () => console.log(server.address().port));
`;

for (const version of ["TLSv1.2", "TLSv1.3"]) {
  Deno.test(`http explains why a server refuses its client certificate: ${version}`, async () => {
    await using context = actionContext();
    const args = ["-e", SERVER, FIXTURES, version];
    const child = new Deno.Command("node", { args, stdout: "piped" }).spawn();
    const reader = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
    try {
      const port = Number((await reader.read()).value);
      const get = `https://127.0.0.1:${port}/`;
      const ask = async (name?: string) => {
        const certificate: Dict = name === undefined
          ? {}
          : { cert: `${FIXTURES}${name}.pem`, key: `${FIXTURES}${name}_key.pem` };
        const tls: Dict = { ca: `${FIXTURES}authority.pem`, ...certificate };
        return (await runHttp({ get, tls }, context)).res.body;
      };
      assertEquals(await ask("good"), "in");
      const address = `127.0.0.1 port ${port}`;
      const wanted = version === "TLSv1.3"
        ? "wants a client certificate"
        : "refused the TLS handshake";
      await assertRejects(() => ask(), StepError, `${address} ${wanted} (ERR_SSL_`);
      for (const name of ["localhost", "expired"]) {
        const error = await assertRejects(() => ask(name), StepError, "closed the connection");
        assertEquals(error.hint, "the server may have refused the client certificate");
      }
    } finally {
      await reader.cancel();
      child.kill();
      await child.status;
    }
  });
}

const ACCEPT = '"tls: { verify: false }" accepts any certificate';

Deno.test("http refuses a self-signed certificate, also after a step accepted it", async () => {
  let requests = 0;
  await using context = actionContext();
  await using server = withServer(() => {
    requests++;
    return new Response("secret");
  }, tlsCertificate("localhost"));
  const refuse = async () => {
    const error = await assertRejects(
      () => runHttp({ get: server.url }, context),
      StepError,
      `cannot send GET "${server.url}/": the certificate of 127.0.0.1 port ${server.port} is self-signed (DEPTH_ZERO_SELF_SIGNED_CERT)`,
    );
    assertStringIncludes(error.hint!, "--cacert ca.pem");
    assertStringIncludes(error.hint!, ACCEPT);
  };
  await refuse();
  for (const params of [{ insecure: true }, { verify_ssl: false }] as Dict[]) {
    const { res } = await runHttp({ get: server.url, ...params }, context);
    assertEquals(res.body, "secret");
  }
  await refuse();
  assertEquals(requests, 2);
});

const REFUSED: readonly (readonly [name: string, message: string, hint: string])[] = [
  ["expired", "expired on 2025-03-01, 631 days ago (CERT_HAS_EXPIRED)", `renew it; ${ACCEPT}`],
  [
    "future",
    "is not valid before 2040-01-01, 4787 days from now (CERT_NOT_YET_VALID)",
    `check the clock of this machine; ${ACCEPT}`,
  ],
  [
    "other",
    'is signed by an unknown certificate authority, "Test CA" (UNABLE_TO_VERIFY_LEAF_SIGNATURE)' +
    " and is for another host: a.example, b.example (ERR_TLS_CERT_ALTNAME_INVALID)",
    `trust its authority with "tls: { ca: ca.pem }" or --cacert ca.pem; ${ACCEPT}`,
  ],
  [
    "good",
    'is signed by an unknown certificate authority, "Test CA" (UNABLE_TO_VERIFY_LEAF_SIGNATURE)',
    `trust its authority with "tls: { ca: ca.pem }" or --cacert ca.pem; ${ACCEPT}`,
  ],
];

for (const [name, message, hint] of REFUSED) {
  Deno.test(`http looks at the certificate that it refuses: ${name}`, async () => {
    await using context = actionContext();
    const clock = { ...context.host.clock, now: () => Date.parse("2026-11-22T12:00:00Z") };
    const host = { ...context.host, clock };
    await using server = withServer(() => new Response("in"), tlsCertificate(name));
    const error = await assertRejects(
      () => runHttp({ get: server.url }, { ...context, host }),
      StepError,
    );
    assertEquals(
      [error.message, error.hint],
      [
        `cannot send GET "${server.url}/": the certificate of 127.0.0.1 port ${server.port} ${message}`,
        hint,
      ],
    );
  });
}

Deno.test("http opens one connection to a server whose certificate it refuses", async () => {
  await using context = actionContext();
  let connections = 0;
  const listener = Deno.listenTls({
    hostname: "127.0.0.1",
    port: 0,
    ...tlsCertificate("localhost"),
  });
  const served = (async () => {
    for await (const connection of listener) {
      connections++;
      await connection.read(new Uint8Array(1)).catch(() => {});
      connection.close();
    }
  })();
  const get = `https://127.0.0.1:${listener.addr.port}/`;
  await assertRejects(() => runHttp({ get }, context), StepError, "is self-signed");
  listener.close();
  await served;
  assertEquals(connections, 1);
});

Deno.test("http names the server_name that a certificate is not for", async () => {
  await using context = actionContext();
  await using server = withServer(() => new Response("in"), tlsCertificate("localhost"));
  const tls = { ca: tlsPath("localhost.pem"), server_name: "shop.test" };
  const address = `127.0.0.1 port ${server.port} (server_name "shop.test")`;
  await assertRejects(
    () => runHttp({ get: server.url, tls }, context),
    StepError,
    `the certificate of ${address} is for another host: localhost, 127.0.0.1`,
  );
});

Deno.test("http reports that a port expects TLS and not plain HTTP", async () => {
  await using context = actionContext();
  await using server = withServer(() => new Response("in"), tlsCertificate("localhost"));
  const error = await assertRejects(
    () => runHttp({ get: `http://127.0.0.1:${server.port}/` }, context),
    StepError,
    `127.0.0.1 port ${server.port} expects TLS, not plain HTTP`,
  );
  assertEquals(error.hint, 'use "https://"');
});

Deno.test("http reports that a port serves plain HTTP and not TLS", async () => {
  await using context = actionContext();
  await using server = withServer(() => new Response("in"));
  const error = await assertRejects(
    () => runHttp({ get: `https://127.0.0.1:${server.port}/` }, context),
    StepError,
    `127.0.0.1 port ${server.port} does not speak TLS (ERR_SSL_WRONG_VERSION_NUMBER)`,
  );
  assertEquals(error.hint, 'if it serves plain HTTP there, use "http://"');
});

Deno.test("http reports a connection that is closed during the TLS handshake", async () => {
  await using context = actionContext();
  await using server = rawServer((connection) => Promise.resolve(connection.close()));
  for (const version of ["1.1", "2", "auto"]) {
    const error = await assertRejects(
      () => runHttp({ get: `https://127.0.0.1:${server.port}/`, version }, context),
      StepError,
      `127.0.0.1 port ${server.port} closed the connection during the TLS handshake`,
    );
    assertEquals(error.hint, 'if it serves plain HTTP there, use "http://"');
  }
});

Deno.test("http posts over TLS", async () => {
  await using context = actionContext();
  await using server = withServer(
    async (request) => new Response(await request.text()),
    tlsCertificate("localhost"),
  );
  const params = { post: server.url, body: { a: 1 }, insecure: true };
  assertEquals((await runHttp(params, context)).res.rawbody, '{"a":1}');
});

Deno.test("http reports a server that answers with a version of TLS that is too old", async () => {
  await using context = actionContext();
  for (const minor of [1, 2]) {
    // A ServerHello that chooses TLS 1.0 or 1.1, as servers do that know nothing newer.
    const hello = [3, minor, ...new Array<number>(32).fill(7), 0, 0xc0, 0x13, 0];
    const handshake = [2, 0, 0, hello.length, ...hello];
    await using server = rawServer(async (connection) => {
      await connection.send(Uint8Array.of(0x16, 3, minor, 0, handshake.length, ...handshake));
      await connection.closed();
    });
    const error = await assertRejects(
      () => runHttp({ get: `https://127.0.0.1:${server.port}/` }, context),
      StepError,
      `127.0.0.1 port ${server.port} does not support TLS 1.2 or newer (ServerDoesNotSupportTls12Or13)`,
    );
    assertStringIncludes(error.hint ?? "", "versions before TLS 1.2 are not supported");
  }
});
