import { assertEquals, assertStringIncludes } from "@std/assert";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";
import { withServer } from "../support/servers/with_server.ts";

Deno.test("a report names the size and the type of a binary body, which it does not show", async () => {
  const data = new Uint8Array(139).fill(255);
  await using server = withServer(() =>
    new Response(data, { headers: { "content-type": "application/octet-stream" } })
  );
  const steps = [{ uses: "http", with: { get: server.url }, test: "res.size == 1" }];
  const workflow = JSON.stringify({ name: "n", jobs: [{ name: "j", steps }] });
  const { code, stdout } = await withFiles(
    { "w.yml": workflow },
    (cwd) => runMain(["w.yml"], { cwd }),
  );
  assertEquals(code, 1);
  assertStringIncludes(stdout, "body: 139 bytes of application/octet-stream, not shown\n");
  assertStringIncludes(stdout, "sha256: ");
});
