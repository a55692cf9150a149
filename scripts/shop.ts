/**
 * Opens the shop of the examples where they look for it by default, or at another port, until it
 * is interrupted: `deno task shop [--port PORT]`.
 *
 * @module
 */
import { parseArgs } from "@std/cli/parse-args";
import { openShop } from "./demo_server.ts";
import { theTask } from "./the_task.ts";

const DEFAULT = 8080;

const { port: text = String(DEFAULT) } = parseArgs(Deno.args, {
  string: ["port"],
  unknown: refuse,
});
const port = /^\d+$/.test(String(text)) ? Number(text) : NaN;
if (!(port <= 65535)) refuse(String(text));
try {
  const { url } = openShop({ port, password: "open sesame" });
  say(`the shop is open at ${url}; Ctrl-C closes it`);
  if (url !== `http://127.0.0.1:${DEFAULT}`) say(`set SHOP_URL=${url} for the examples`);
} catch (error) {
  if (error instanceof Deno.errors.AddrInUse) {
    const another = `${theTask("shop")} --port ${port < 65535 ? port + 1 : DEFAULT}`;
    fail(`port ${port} of 127.0.0.1 is already in use`, `choose another port: ${another}`);
  }
  if (error instanceof Deno.errors.PermissionDenied) {
    fail(`not permitted to listen on port ${port}`, "choose a port of 1024 or above");
  }
  throw error;
}

function refuse(argument: string): never {
  fail(`invalid argument "${argument}"`, `usage: ${theTask("shop")} [--port PORT]`);
}

function fail(message: string, hint: string): never {
  say(`error: ${message}\n  ${hint}`);
  Deno.exit(1);
}

function say(line: string): void {
  // deno-lint-ignore no-console
  console.error(line);
}
