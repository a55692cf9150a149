import { assert, assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import type { Dict, RunTls } from "../../../src/action/action.ts";
import { declare, readRendered } from "../../../src/action/make_action.ts";
import { tls as tlsRule, tlsOptions } from "../../../src/action/tls/tls.ts";
import { tls } from "../../../src/actions/tls/tls.ts";
import { runnerOf } from "../../support/run_action.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext } from "../../support/action_context.ts";
import { tlsCertificate, tlsPath, tlsText } from "../../support/servers/tls_fixture.ts";
import { withServer } from "../../support/servers/with_server.ts";

const runTls = runnerOf(tls);

const { createPrivateKey } = await import("node:crypto");

const PARAMS = { tls: tlsRule() };

async function read(tls: Dict | undefined, run?: RunTls) {
  await using context = actionContext();
  const read = readRendered("http", PARAMS, { ...tls && { tls } }, context.secrets);
  const options = await tlsOptions(read.tls ?? {}, { ...context, tls: run });
  return { options, learned: context.learned };
}

Deno.test("tlsOptions() verifies certificates by default", async () => {
  assertEquals((await read(undefined)).options, { rejectUnauthorized: true });
});

Deno.test("tlsOptions() reads certificates and keys from paths and from text", async () => {
  const byPath = await read({
    ca: tlsPath("authority.pem"),
    cert: tlsPath("good.pem"),
    key: tlsPath("good_key.pem"),
  });
  const byText = await read({
    ca: tlsText("authority.pem"),
    cert: tlsText("good.pem"),
    key: tlsText("good_key.pem"),
  });
  assertEquals(byPath.options, byText.options);
  assertEquals(byText.learned, [tlsText("good_key.pem")]);
  assertEquals(byPath.options.ca?.length, 1);
});

Deno.test("tlsOptions() reads a key with a passphrase, a file with both, and a PFX file", async () => {
  const key = String(
    createPrivateKey(tlsText("good_key.pem")).export({
      type: "pkcs8",
      format: "pem",
      cipher: "aes-256-cbc",
      passphrase: "tiger",
    }),
  );
  const plain = (await read({ cert: tlsPath("good.pem"), key: tlsPath("good_key.pem") })).options;
  const forms: Dict[] = [
    { cert: tlsPath("good.pem"), key, passphrase: "tiger" },
    { cert: tlsText("good.pem") + tlsText("good_key.pem") },
  ];
  for (const form of forms) assertEquals((await read(form)).options, plain);
  const { options, learned } = await read({ pfx: tlsPath("good.p12"), passphrase: "tiger" });
  assert(options.cert?.includes("CERTIFICATE") && options.key?.includes("PRIVATE KEY"));
  assertEquals(learned, ["tiger"]);
});

Deno.test("tlsOptions() prefers the options of a step to those of the run", async () => {
  const run: RunTls = {
    ca: tlsText("localhost.pem"),
    cert: tlsText("good.pem"),
    key: tlsText("good_key.pem"),
    insecure: true,
  };
  const { options } = await read({ ca: tlsPath("authority.pem"), verify: true }, run);
  assertEquals(options.rejectUnauthorized, true);
  assertEquals(options.ca, (await read({ ca: tlsPath("authority.pem") })).options.ca);
  assert(options.cert !== undefined);
  assertEquals((await read(undefined, run)).options.rejectUnauthorized, false);
});

const REFUSED: readonly (readonly [name: string, tls: Dict, message: string])[] = [
  [
    "a path that leads nowhere",
    { ca: "no/such.pem" },
    'cannot read the CA certificate "no/such.pem": no such file (ENOENT)',
  ],
  [
    "a key in place of a certificate",
    { ca: tlsPath("good_key.pem") },
    `the CA certificate "${tlsPath("good_key.pem")}" holds no certificate`,
  ],
  [
    "a file that is not a certificate",
    { ca: import.meta.filename! },
    `the CA certificate "${import.meta.filename}" is not a certificate in PEM or DER form`,
  ],
  [
    "a certificate without its key",
    { cert: tlsPath("good.pem") },
    `the key of the client certificate "${tlsPath("good.pem")}" holds no private key in PEM form`,
  ],
  [
    "the key of another certificate",
    { cert: tlsPath("good.pem"), key: tlsPath("other_key.pem") },
    `the key of the client certificate "${
      tlsPath("other_key.pem")
    }" does not belong to the client certificate "${tlsPath("good.pem")}"`,
  ],
  [
    "a wrong passphrase",
    { pfx: tlsPath("good.p12"), passphrase: "lion" },
    `the PFX file "${tlsPath("good.p12")}" has another passphrase (mac verify failure)`,
  ],
  ["an old version", { min_version: 1.1 }, 'invalid value "1.1" for "tls.min_version"'],
  ["an unknown key", { certificate: "x" }, 'unknown key "certificate" in "tls"'],
];

for (const [name, tls, message] of REFUSED) {
  Deno.test(`tlsOptions() refuses ${name}`, async () => {
    const error = await assertRejects(() => read(tls), StepError, message);
    assertEquals(error.details.parameter, "tls");
  });
}

Deno.test("the rule of tls finds options that cannot be combined", () => {
  const { problems } = declare({ name: "http", summary: "", params: PARAMS, res: {} });
  assertEquals(problems!({ tls: { pfx: "a", cert: "b" } }).map(({ message }) => message), [
    '"pfx" and "cert" cannot be combined',
  ]);
  assertEquals(problems!({ tls: { min_version: 1.3 } }), []);
});
Deno.test("tls reports a valid certificate, its chain and the versions of TLS", async () => {
  await using server = withServer(() => new Response(), tlsCertificate("good"));
  await using context = actionContext();
  const { res, status } = await runTls(
    { host: "127.0.0.1", port: server.port, tls: { ca: tlsText("authority.pem") } },
    context,
  );
  assertEquals([status, res.valid, res.error], [0, true, ""]);
  assertEquals(res.protocols, ["TLSv1.2", "TLSv1.3"]);
  assertEquals(res.protocol, "TLSv1.3");
  assertEquals((res.certificate as { days_left: number }).days_left > 0, true);
});

Deno.test("tls reports a certificate that is not valid with everything else", async () => {
  await using server = withServer(() => new Response(), tlsCertificate("expired"));
  await using context = actionContext();
  const { res, status } = await runTls(
    { host: "127.0.0.1", port: server.port, tls: { ca: tlsText("authority.pem") } },
    context,
  );
  assertEquals([status, res.valid], [1, false]);
  assertStringIncludes(res.error as string, "expired on 2025-03-01");
  assertEquals((res.certificate as { days_left: number }).days_left < 0, true);
});

Deno.test("tls says that only a newer version of TLS was accepted", async () => {
  const options = { ...tlsCertificate("good"), maxVersion: "TLSv1.2" } as const;
  const server = createServer(options);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await using context = actionContext();
  const params = { host: "127.0.0.1", port, tls: { ca: tlsText("authority.pem") } };
  const { res } = await runTls(params, context);
  assertEquals([res.protocol, res.protocols], ["TLSv1.2", ["TLSv1.2"]]);
  const error = await assertRejects(
    () => runTls({ ...params, tls: { ...params.tls, min_version: "1.3" } }, context),
    StepError,
    "does not support TLS 1.3",
  );
  assertStringIncludes(error.hint ?? "", "min_version");
  server.close();
});

Deno.test("tls fails where no TLS is spoken", async () => {
  await using server = withServer(() => new Response());
  await using context = actionContext();
  const error = await assertRejects(
    () => runTls({ host: "127.0.0.1", port: server.port }, context),
    StepError,
    `cannot connect to 127.0.0.1 port ${server.port}: `,
  );
  assertStringIncludes(error.hint ?? "", "check the port");
});
