import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { createSecureServer } from "node:http2";
import type { AddressInfo } from "node:net";
import { httpProxy } from "../support/proxies.ts";
import { runMain } from "../support/run_main.ts";
import { withServer } from "../support/with_server.ts";

const cwd = fromFileUrl(new URL("../../examples/http/", import.meta.url));
const fixture = (name: string) =>
  fromFileUrl(new URL(`../fixtures/tls/${name}.pem`, import.meta.url));
const text = (name: string) => Deno.readTextFileSync(fixture(name));
const CERTIFICATE = { cert: text("good"), key: text("good_key") };

async function runExample(name: string, env: Readonly<Record<string, string>>) {
  const { code, stdout } = await runMain([name], { cwd, env });
  assertEquals(code, 0, stdout);
}

Deno.test("examples/http/certificates.yml looks at a certificate", async () => {
  await using server = withServer(() => new Response("in"), CERTIFICATE);
  await runExample("certificates.yml", { SITE_URL: server.url, SITE_CA: fixture("authority") });
});

Deno.test("examples/http/http2.yml speaks HTTP/2", async () => {
  let sessions = 0;
  const server = createSecureServer(CERTIFICATE, (_request, response) => response.end("in"));
  server.on("session", () => sessions++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as AddressInfo;
  try {
    const env = { SITE_URL: `https://127.0.0.1:${port}`, SITE_CA: fixture("authority") };
    await runExample("http2.yml", env);
    assertEquals(sessions, 1);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
});

Deno.test("examples/http/connect.yml goes through a proxy and to another address", async () => {
  await using server = withServer((request) => new Response(request.headers.get("host")));
  await using proxy = await httpProxy();
  const at = `127.0.0.1:${server.port}`;
  await runExample("connect.yml", {
    PROXY_URL: `http://127.0.0.1:${proxy.port}`,
    GREEN_ADDRESS: at,
  });
  assertEquals(proxy.asked, [`GET http://${at}/`]);
});
