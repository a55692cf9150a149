/**
 * Starts an OAuth 2 server that gives a token to every client, on a free port, and prints its URL.
 * It ends when its input ends.
 *
 * @module
 */
import { OAuth2Server } from "oauth2-mock-server";

const server = new OAuth2Server();
await server.issuer.keys.generate("RS256");
await server.start(0, "127.0.0.1");
// deno-lint-ignore no-console
console.log(`http://127.0.0.1:${server.address().port}`);
await Deno.stdin.readable.pipeTo(new WritableStream());
Deno.exit(0);
