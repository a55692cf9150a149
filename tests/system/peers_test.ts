/**
 * Runs the files of other tools on the pages of docs/migrate/ with these tools, as far as npm has
 * them: they must do what their translations do.
 *
 * @module
 */
import { fromFileUrl } from "@std/path/from-file-url";
import { assertScenario, ORDERS } from "../support/migrations.ts";

const CONFIG = fromFileUrl(new URL("../tools/peers/deno.json", import.meta.url));
const PASSWORD = "password=open sesame";

const PEERS: readonly (readonly [page: string, cwd: string, args: readonly string[]])[] = [
  ["postman", "", ["npm:newman@6.2.2", "run", "collection.json", "--env-var", PASSWORD]],
  ["bruno", "/collection", [
    "npm:@usebruno/cli@4.1.0",
    ...["run", "--env", "local", "--env-var", PASSWORD],
  ]],
  ["stepci", "", ["npm:stepci@2.8.2", "run", "orders.stepci.yml", "--secret", PASSWORD]],
];

// Each start of these tools takes seconds.
const { spoils } = ORDERS;
const SOME = {
  ...ORDERS,
  spoils: {
    "the total is wrong": spoils["the total is wrong"]!,
    "the order is not deleted": spoils["the order is not deleted"]!,
  },
};

for (const [page, directory, args] of PEERS) {
  Deno.test(`the file on the page about ${page} does there what its translation does`, async (test) => {
    await assertScenario(test, page, SOME, async (cwd) => {
      const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
        // Their libraries set __proto__.
        args: ["run", "-A", "--quiet", "--unsafe-proto", "--config", CONFIG, ...args],
        cwd: `${cwd}${directory}`,
        env: { NO_COLOR: "1", STEPCI_DISABLE_ANALYTICS: "1" },
        stdin: "null",
      }).output();
      const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
      return { code, output: text(stdout) + text(stderr) };
    });
  });
}
