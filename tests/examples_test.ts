import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { openShop } from "../scripts/demo_server.ts";
import { grpcShop } from "./support/servers/grpc_shop.ts";
import { BUILT, runCli } from "./support/run/run_cli.ts";
import { runHere } from "./support/run/run_main.ts";
import { sshServer } from "./support/servers/ssh_server.ts";
import { fromFileUrl } from "@std/path/from-file-url";

const EXAMPLES = fromFileUrl(new URL("../examples/", import.meta.url));
const MERGED = "merge/shared.yml,merge/checks.yml";
const PAYMENTS = "release/payments.yml";
/** The suites, and how they end. */
const SUITES: Readonly<Record<string, string>> = {
  "suite/suite.yml": "2 passed (2)",
  "suite/stages.yml": "3 passed (3)",
};
/** The warning of a load job beside other programs, which says nothing of the example. */
const BUSY_MACHINE = /^.*rounds started late.*other programs on this machine.*\n/gm;

Deno.test("every example does what it says", async (test) => {
  const names = [...Deno.readDirSync(EXAMPLES)].flatMap(({ name }) =>
    name.endsWith(".yml") ? [name] : []
  );
  assertEquals(names.length >= 8, true);
  await using ssh = await sshServer();
  for (const name of [...names.sort(), MERGED, PAYMENTS, ...Object.keys(SUITES)]) {
    await test.step(name, async () => {
      const shop = openShop();
      await using grpc = name === "grpc.yml" ? await grpcShop() : undefined;
      const text = name === MERGED ? "" : await Deno.readTextFile(`${EXAMPLES}${name}`);
      const run = BUILT !== undefined || /shell|plugin/.test(text) ? runCli : runHere;
      try {
        const env = {
          SHOP_URL: shop.url,
          SHOP_PASSWORD: shop.password,
          API_TOKEN: "very-secret-token",
          SSH_PORT: `${ssh.port}`,
          SSH_USER: ssh.user,
          SSH_KEY: ssh.key,
          SSH_KNOWN_HOSTS: ssh.knownHost,
          GRPC_SERVER: grpc?.addr ?? "",
        };
        const { code, stdout, stderr } = await run([name], { cwd: EXAMPLES, env });
        const fails = name === "failing.yml";
        assertEquals([code, stderr.replace(BUSY_MACHINE, "")], [fails ? 1 : 0, ""], stdout);
        if (!fails) assertMatch(stdout, /^(Jobs {7}|Workflows {2})\d+ passed( · \d+ skipped)? \(/m);
        assertStringIncludes(stdout, SUITES[name] ?? "");
      } finally {
        await shop.close();
      }
    });
  }
});
