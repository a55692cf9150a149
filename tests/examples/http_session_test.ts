import { assertEquals } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { digestServer } from "../support/servers/digest_server.ts";
import { runMain } from "../support/run/run_main.ts";
import { openSite } from "../support/servers/site.ts";
import { startTool } from "../support/servers/tool_server.ts";
import { assertPassed } from "../support/assert_passed.ts";

const EXAMPLES = fromFileUrl(new URL("../../examples/http/", import.meta.url));

/** Runs an example; everything in it passes. */
async function passes(name: string, env: Readonly<Record<string, string>>): Promise<string> {
  const { code, stdout, stderr } = await runMain([name], { cwd: EXAMPLES, env });
  assertEquals([code, stderr], [0, ""], stdout);
  assertPassed(stdout);
  return stdout;
}

Deno.test("examples/http/cookies.yml keeps and shares cookies", async () => {
  await using site = openSite();
  await passes("cookies.yml", { SITE_URL: site.url, SITE_PASSWORD: site.password });
});

Deno.test("examples/http/openid.yml logs in at an OpenID provider in 25 lines", async () => {
  await using site = openSite();
  const callback = `${site.url}/callback`;
  await using provider = await startTool("oidc/oidc_provider.ts", [callback]);
  await passes("openid.yml", { ISSUER_URL: provider.url, CALLBACK_URL: callback });
  const lines = (await Deno.readTextFile(`${EXAMPLES}openid.yml`)).trimEnd().split("\n");
  assertEquals(lines.filter((line) => !line.startsWith("#")).length, 25);
});

Deno.test("examples/http/sign_in.yml signs in, also with a token of oauth2-mock-server", async () => {
  await using site = openSite();
  await using digest = digestServer({ qop: "auth", algorithm: "SHA-256" }, "ann", site.password);
  await using oauth = await startTool("oidc/oauth2_server.ts");
  const stdout = await passes("sign_in.yml", {
    SITE_URL: site.url,
    SITE_PASSWORD: site.password,
    SITE_TOKEN: site.token,
    DIGEST_URL: digest.url,
    OAUTH_URL: oauth.url,
  });
  assertEquals(stdout.includes(site.password), false);
});
