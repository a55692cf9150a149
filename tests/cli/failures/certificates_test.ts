import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { runCli } from "../../support/run/run_cli.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";

/** A certificate for `localhost` and 127.0.0.1, which has signed itself. */
const CERTIFICATE = tlsPath("localhost.pem");

function getFrom(url: string, authority = CERTIFICATE): Promise<{ code: number; stdout: string }> {
  const steps = [{ uses: "http", with: { get: url }, test: "res.body == 'in'" }];
  const workflow = JSON.stringify({ name: "n", jobs: [{ name: "j", steps }] });
  return withFiles({ "w.yml": workflow }, (cwd) => {
    return runCli(["w.yml"], { cwd, env: { NODE_EXTRA_CA_CERTS: authority } });
  });
}

Deno.test("a certificate for another host is reported with both names", async () => {
  const [cert, key] = await Promise.all(
    [CERTIFICATE, tlsPath("localhost_key.pem")].map((name) => Deno.readTextFile(name)),
  );
  await using server = withServer(() => new Response("in"), { cert: cert!, key: key! });
  const good = await getFrom(server.url);
  assertEquals(good.code, 0, good.stdout);
  const bad = await getFrom(`https://[::ffff:127.0.0.1]:${server.port}`);
  assertEquals(bad.code, 1);
  assertStringIncludes(
    bad.stdout,
    `the certificate of [::ffff:7f00:1] port ${server.port} is for another host: localhost, 127.0.0.1 (ERR_TLS_CERT_ALTNAME_INVALID)\n`,
  );
});

Deno.test("a certificate that has expired is reported as such where its authority is known", async () => {
  const [cert, key] = await Promise.all(
    ["expired.pem", "expired_key.pem"].map((name) => Deno.readTextFile(tlsPath(name))),
  );
  await using server = withServer(() => new Response("in"), { cert: cert!, key: key! });
  const { code, stdout } = await getFrom(server.url, tlsPath("authority.pem"));
  assertEquals(code, 1);
  assertMatch(stdout, /expired on 2025-03-01, \d+ days ago \(CERT_HAS_EXPIRED\)\n/);
});
