import { assertEquals, assertStringIncludes } from "@std/assert";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { tlsCertificate, tlsPath, tlsText } from "../../support/servers/tls_fixture.ts";

async function runAt(args: readonly string[], params = "") {
  const certificate = tlsCertificate("good");
  await using server = withServer(() => new Response("in"), certificate);
  const workflow = `
name: TLS
jobs:
  - name: j
    steps:
      - uses: http
        with: { get: "${server.url}" ${params} }
        test: res.tls.certificate.days_left > 14 && "127.0.0.1" in res.tls.certificate.names
`;
  const files = { "flows/w.yml": workflow, "flows/ca.pem": tlsText("authority.pem") };
  return await withFiles(files, (cwd) => runMain([...args, "flows/w.yml"], { cwd }));
}

Deno.test("--cacert and --insecure hold for every step, and a step's verify: true wins", async () => {
  const refused = "is signed by an unknown certificate authority";
  const bare = await runAt([]);
  assertEquals(bare.code, 1);
  assertStringIncludes(bare.stdout, refused);
  const trusted = await runAt(["--cacert", tlsPath("authority.pem")]);
  assertEquals(trusted.code, 0, trusted.stdout);
  const insecure = await runAt(["--insecure"]);
  assertEquals(insecure.code, 0, insecure.stdout);
  const strict = await runAt(["--insecure"], ", tls: { verify: true }");
  assertStringIncludes(strict.stdout, refused);
});

Deno.test("paths of tls begin at the file that names them", async () => {
  const { code, stdout } = await runAt([], ", tls: { ca: ca.pem }");
  assertEquals(code, 0, stdout);
});

Deno.test("options of TLS name the file that they cannot use", async () => {
  const cases = [
    [["--cacert", "no.pem"], 'cannot read the file "no.pem" of --cacert: no such file (ENOENT)'],
    [["--cert", tlsPath("good.pem")], "holds no private key in PEM form"],
    [
      ["--cert", tlsPath("good.pem"), "--key", tlsPath("other_key.pem")],
      `file "${tlsPath("other_key.pem")}" of --key does not belong to`,
    ],
    [["--key", tlsPath("good_key.pem")], "--key requires --cert"],
  ] as const;
  for (const [args, words] of cases) {
    const { code, stderr } = await runAt(args);
    assertEquals(code, 1);
    assertStringIncludes(stderr, words);
  }
});

Deno.test("check finds what cannot be combined about connections", async () => {
  const workflow = `
name: TLS
jobs:
  - name: j
    steps:
      - uses: http
        with:
          get: https://localhost/
          insecure: true
          tls: { verify: true, min_version: 1.1, certt: x }
          proxy: http://localhost:1
          unix_socket: /run/x.sock
          version: 3
          resolve: { localhost: "10.0.0.1" }
`;
  const { stderr, stdout } = await withFiles(
    { "w.yml": workflow },
    (cwd) => runMain(["check", "w.yml"], { cwd }),
  );
  for (
    const words of [
      '"insecure" and "tls.verify" cannot be combined',
      '"min_version" must be "1.2" or "1.3", not "1.1"',
      'unknown key "certt" in "tls"',
      '"unix_socket" and "proxy" cannot be combined',
      'invalid value "3" for "version"',
      '"localhost" in "resolve" is not a host and a port',
    ]
  ) assertStringIncludes(stderr + stdout, words);
});
