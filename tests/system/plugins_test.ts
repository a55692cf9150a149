import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { runCli } from "../support/run/run_cli.ts";

Deno.test("the example of plugins in sh, Python and TypeScript does what it says", async () => {
  const directory = fromFileUrl(new URL("../../examples/plugins/", import.meta.url));
  const server = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const serving = (async () => {
    for await (const connection of server) {
      await connection.read(new Uint8Array(100));
      await connection.write(new TextEncoder().encode("domain: example.com\r\n"));
      connection.close();
    }
  })();
  try {
    const { port } = server.addr as Deno.NetAddr;
    const env = { RUNNER_PLUGIN_DIR: directory, WHOIS_HOST: "127.0.0.1", WHOIS_PORT: String(port) };
    const { code, stdout, stderr } = await runCli(["-v", `${directory}plugins.yml`], { env });
    assertEquals(code, 0, stdout + stderr);
    for (const name of ["there is room left", "words are counted", "a domain is registered"]) {
      assertMatch(stdout, new RegExp(`✓ .*${name}`));
    }
    assertStringIncludes(stderr, "words: 8 words in 300 seconds at most");
  } finally {
    server.close();
    await serving;
  }
});
