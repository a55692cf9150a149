import { assertEquals, assertMatch } from "@std/assert";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";

Deno.test("--timing prints the phases of a request, and res.timing has them in seconds", async () => {
  await using server = withServer(() => new Response("in"));
  const workflow = `
name: Phases
jobs:
  - name: j
    steps:
      - uses: http
        with: { get: "http://localhost:${server.port}/" }
        test: |-
          res.timing.total > 0 && res.timing.tls == 0 && res.timing.first_byte > 0 &&
          res.timing.connect > 0 && res.timing.queue >= 0 && res.timing.dns >= 0 &&
          res.timing.download >= 0 &&
          res.timing.dns + res.timing.connect + res.timing.first_byte + res.timing.download <= rt.sec + 1e-5
`;
  const { code, stdout } = await withFiles(
    { "w.yml": workflow },
    (cwd) => runMain(["--timing", "w.yml"], { cwd }),
  );
  assertEquals(code, 0, stdout);
  assertMatch(stdout, /\(@[\d:.]+ \S+: .*connect \S+, first byte \S+, download \S+\)/);
});
