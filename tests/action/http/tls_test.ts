import type { Dict } from "../../../src/base/value/value.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { runHttp } from "../../../src/action/http/run_http.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext } from "../../support/action_context.ts";
import { rawServer } from "../../support/servers/raw_server.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { tlsCertificate, tlsPath } from "../../support/servers/tls_fixture.ts";

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

const REFUSED: readonly (readonly [name: string, words: string, hint: string])[] = [
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

for (const [name, words, hint] of REFUSED) {
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
        `cannot send GET "${server.url}/": the certificate of 127.0.0.1 port ${server.port} ${words}`,
        hint,
      ],
    );
  });
}

Deno.test("http names the server_name that a certificate is not for", async () => {
  await using context = actionContext();
  await using server = withServer(() => new Response("in"), tlsCertificate("localhost"));
  const tls = { ca: tlsPath("localhost.pem"), server_name: "shop.test" };
  const place = `127.0.0.1 port ${server.port} (server_name "shop.test")`;
  await assertRejects(
    () => runHttp({ get: server.url, tls }, context),
    StepError,
    `the certificate of ${place} is for another host: localhost, 127.0.0.1`,
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
  const error = await assertRejects(
    () => runHttp({ get: `https://127.0.0.1:${server.port}/` }, context),
    StepError,
    `127.0.0.1 port ${server.port} closed the connection during the TLS handshake`,
  );
  assertEquals(error.hint, 'if it serves plain HTTP there, use "http://"');
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
