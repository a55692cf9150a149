import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { runHttp } from "../../../src/action/http/run_http.ts";
import { StepError } from "../../../src/source/errors.ts";
import { actionContext } from "../../support/action_context.ts";
import { withServer } from "../../support/with_server.ts";

const fixture = (name: string) =>
  Deno.readTextFileSync(new URL(`../../fixtures/tls/${name}`, import.meta.url));
const certificate = { cert: fixture("localhost.pem"), key: fixture("localhost_key.pem") };

Deno.test("http refuses a self-signed certificate, also after it was told to take it", async () => {
  let requests = 0;
  await using context = actionContext();
  await using server = withServer(() => {
    requests++;
    return new Response("secret");
  }, certificate);
  const refuse = async () => {
    const error = await assertRejects(
      () => runHttp({ get: server.url }, context),
      StepError,
      `cannot send GET "${server.url}/": the certificate of 127.0.0.1 port ${server.port} is self-signed`,
    );
    assertStringIncludes(error.hint!, "NODE_EXTRA_CA_CERTS=ca.pem");
    assertStringIncludes(error.hint!, 'set "insecure: true" to take the certificate as it is');
  };
  await refuse();
  for (const params of [{ insecure: true }, { verify_ssl: false }]) {
    const { res } = await runHttp({ get: server.url, ...params }, context);
    assertEquals(res.body, "secret");
  }
  await refuse();
  assertEquals(requests, 2);
});

Deno.test("http posts over TLS", async () => {
  await using context = actionContext();
  await using server = withServer(
    async (request) => new Response(await request.text()),
    certificate,
  );
  const params = { post: server.url, body: { a: 1 }, insecure: true };
  assertEquals((await runHttp(params, context)).res.rawbody, '{"a":1}');
});
