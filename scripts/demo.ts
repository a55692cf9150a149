/**
 * Opens a small shop on a free loopback port and runs examples/demo.yml against it.
 *
 * @module
 */
import { openShop } from "./demo_server.ts";
import { theTask } from "./the_task.ts";

const shop = openShop();
const runner = new Deno.Command(Deno.execPath(), {
  args: ["run", "-A", "cli.ts", ...Deno.args, "examples/demo.yml"],
  env: { SHOP_URL: shop.url, SHOP_PASSWORD: shop.password },
});
const { code } = await runner.spawn().status;
await shop.close();
if (code === 0) {
  // deno-lint-ignore no-console
  console.error(`
That was examples/demo.yml. What to do next:

  Open it, change "== 24" to "== 25", and see how a test fails:
    ${theTask("demo")}
  See the run as a page, with each request and response:
    ${theTask("demo")} --report html=demo.html
  Install the command runner, and write a workflow: docs/start/first-workflow.md
    ${theTask("install")}`);
}
Deno.exit(code);
