import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { nameServer } from "../support/servers/name_server.ts";
import { runMain } from "../support/run/run_main.ts";
import { withServer } from "../support/servers/with_server.ts";
import { tlsPath } from "../support/servers/tls_fixture.ts";
import { assertPassed } from "../support/assert_passed.ts";

const EXAMPLES = fromFileUrl(new URL("../../examples/network/", import.meta.url));
const TLS = tlsPath("");

Deno.test("examples/network/reachable.yml finds a service by its name, port and certificate", async () => {
  const [cert, key] = [
    Deno.readTextFileSync(`${TLS}good.pem`),
    Deno.readTextFileSync(`${TLS}good_key.pem`),
  ];
  await using service = withServer(() => new Response(), { cert, key });
  await using names = await nameServer({ "A 127.0.0.1": [{ type: "A", data: "127.0.0.1" }] });
  const env = {
    SERVICE_HOST: "127.0.0.1",
    SERVICE_PORT: `${service.port}`,
    NAME_SERVER: names.server,
  };
  const args = ["--cacert", `${TLS}authority.pem`, "reachable.yml"];
  const { code, stdout, stderr } = await runMain(args, { cwd: EXAMPLES, env });
  assertEquals([code, stderr], [0, ""], stdout);
  assertPassed(stdout);
});
