import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";
import { assertPassed } from "../support/assert_passed.ts";

const EXAMPLES = fromFileUrl(new URL("../../examples/mail/", import.meta.url));

Deno.test("examples/mail/latency.yml measures the mails beside it", async () => {
  await withFiles({}, async (dir) => {
    const env = { REPORTS: dir };
    const { code, stdout, stderr } = await runMain(["latency.yml"], { cwd: EXAMPLES, env });
    assertEquals([code, stderr], [0, ""], stdout);
    assertPassed(stdout);
  });
});
