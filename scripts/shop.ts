/**
 * Opens the shop of the examples where they look for it by default, until it is interrupted.
 *
 * @module
 */
import { openShop } from "./demo_server.ts";

const { url } = openShop({ port: 8080, password: "open sesame" });
// deno-lint-ignore no-console
console.error(`the shop is open at ${url}; Ctrl-C closes it`);
