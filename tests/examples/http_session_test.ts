import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { runMain } from "../support/run_main.ts";
import { openSite } from "../support/site.ts";

const EXAMPLES = fromFileUrl(new URL("../../examples/http/", import.meta.url));

/** Runs an example; everything in it passes. */
async function passes(name: string, env: Readonly<Record<string, string>>): Promise<string> {
  const { code, stdout, stderr } = await runMain([name], { cwd: EXAMPLES, env });
  assertEquals([code, stderr], [0, ""], stdout);
  assertStringIncludes(stdout, "✓ All jobs succeeded");
  return stdout;
}

Deno.test("examples/http/cookies.yml keeps and shares cookies", async () => {
  await using site = openSite();
  await passes("cookies.yml", { SITE_URL: site.url, SITE_PASSWORD: site.password });
});
