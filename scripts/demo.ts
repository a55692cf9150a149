/**
 * Opens a small shop on a free loopback port and runs examples/demo.yml against it.
 *
 * @module
 */
import { openShop } from "./demo_server.ts";

const shop = openShop();
const runner = new Deno.Command(Deno.execPath(), {
  args: ["run", "-A", "cli.ts", ...Deno.args, "examples/demo.yml"],
  env: { SHOP_URL: shop.url, SHOP_PASSWORD: shop.password },
});
const { code } = await runner.spawn().status;
await shop.close();
Deno.exit(code);
