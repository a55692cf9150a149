import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { createServer } from "node:http";
import { createSecureServer } from "node:http2";
import { createServer as createSecureHttpServer } from "node:https";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { httpProxy } from "../support/servers/proxies.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";
import { withServer } from "../support/servers/with_server.ts";
import { tlsCertificate, tlsPath, tlsText } from "../support/servers/tls_fixture.ts";

const cwd = fromFileUrl(new URL("../../examples/http/", import.meta.url));
const CERTIFICATE = tlsCertificate("good");

async function runExample(name: string, env: Readonly<Record<string, string>>) {
  const { code, stdout } = await runMain([name], { cwd, env });
  assertEquals(code, 0, stdout);
}

Deno.test("examples/http/certificates.yml looks at a certificate", async () => {
  await using server = withServer(() => new Response("in"), CERTIFICATE);
  await runExample("certificates.yml", { SITE_URL: server.url, SITE_CA: tlsPath("authority.pem") });
});

Deno.test("examples/http/http2.yml speaks HTTP/2", async () => {
  let sessions = 0;
  const server = createSecureServer(CERTIFICATE, (_request, response) => response.end("in"));
  server.on("session", () => sessions++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as AddressInfo;
  try {
    const env = { SITE_URL: `https://127.0.0.1:${port}`, SITE_CA: tlsPath("authority.pem") };
    await runExample("http2.yml", env);
    assertEquals(sessions, 1);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

Deno.test("examples/http/mutual_tls.yml presents a client certificate", async () => {
  const server = createSecureHttpServer(
    { ...CERTIFICATE, ca: tlsText("authority.pem"), requestCert: true },
    (_request, response) => response.end("in"),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as AddressInfo;
  try {
    await runExample("mutual_tls.yml", {
      SITE_URL: `https://127.0.0.1:${port}`,
      SITE_CA: tlsPath("authority.pem"),
      CLIENT_CERT: tlsPath("good.pem"),
      CLIENT_KEY: tlsPath("good_key.pem"),
    });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

Deno.test("examples/http/connect.yml goes through a proxy, to another address and to a socket", async () => {
  const answer = (request: Request) => new Response(request.headers.get("host"));
  await using server = withServer(answer);
  await using proxy = await httpProxy();
  const at = `127.0.0.1:${server.port}`;
  await withFiles({}, async (directory) => {
    const path = `${directory}/site.sock`;
    await using _socket = Deno.serve({ path, onListen() {} }, answer);
    await runExample("connect.yml", {
      PROXY_URL: `http://127.0.0.1:${proxy.port}`,
      GREEN_ADDRESS: at,
      SITE_SOCKET: path,
    });
  });
  assertEquals(proxy.asked, [`GET http://${at}/`]);
});

Deno.test("examples/http/timing.yml says where the time goes", async () => {
  await using server = withServer(() => new Response("in"));
  await runExample("timing.yml", { SITE_URL: server.url });
});

Deno.test("examples/http/retry_after.yml waits as long as the server asks for", async () => {
  let asked = 0;
  await using server = withServer(() =>
    ++asked === 1
      ? new Response("later", { status: 429, headers: { "retry-after": "0" } })
      : new Response("now")
  );
  await runExample("retry_after.yml", { SITE_URL: server.url });
  assertEquals(asked, 2);
});

Deno.test("examples/http/headers.yml sends unusual requests and reads any charset", async () => {
  // Deno's own server drops the body of a GET.
  const server = createServer(async (request, response) => {
    const body = await new Response(Readable.toWeb(request) as ReadableStream).text();
    const json = (value: unknown) => {
      response.setHeader("content-type", "application/json").end(JSON.stringify(value));
    };
    if (request.url === "/headers") return json(request.headers);
    if (request.url === "/search") return json(JSON.parse(body));
    if (request.url === "/latin") {
      response.setHeader("content-type", "text/plain; charset=ISO-8859-1");
      response.end("Gr\u00fc\u00dfe", "latin1");
      return;
    }
    if (request.url === "/trailers") {
      response.writeHead(200, { trailer: "X-Checksum" });
      response.write("tea");
      response.addTrailers({ "X-Checksum": "5d41402a" });
      return void response.end();
    }
    response.writeHead(request.method === "PROPFIND" ? 207 : 405).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as AddressInfo;
  try {
    await runExample("headers.yml", { SITE_URL: `http://127.0.0.1:${port}` });
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});
