import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { AddressInfo } from "node:net";
import { createServer } from "node:tls";
import { runTls } from "../../../src/action/tls_check/run_tls.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext } from "../../support/action_context.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { tlsCertificate, tlsText } from "../../support/servers/tls_fixture.ts";

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
