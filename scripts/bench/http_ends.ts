/**
 * The two ends of the http bench. `server` answers on a free port and prints its URL; a number
 * after it is the response time in milliseconds. A URL as argument is asked 10,000 times over
 * as many sockets as the http action may open, and the seconds that took are printed.
 *
 * @module
 */
import { Agent, get } from "node:http";

const BODY = JSON.stringify({ items: Array.from({ length: 10 }, (_, id) => ({ id, name: "x" })) });
const COUNT = 10_000;

/** The headers of the http action, so that both send the same requests. */
const HEADERS = {
  Accept: "*/*",
  "User-Agent": "runner",
  "Accept-Encoding": "gzip, deflate, br",
};

function serve(delay: number): void {
  Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    // deno-lint-ignore no-console
    onListen: ({ port }) => console.log(`http://127.0.0.1:${port}/`),
  }, async () => {
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    return new Response(BODY, { headers: { "content-type": "application/json" } });
  });
}

async function load(url: string): Promise<void> {
  const agent = new Agent({ keepAlive: true, maxTotalSockets: 1024 });
  const ask = () =>
    new Promise<void>((resolve, reject) => {
      get(url, { agent, headers: HEADERS }, (response) => {
        const chunks: Uint8Array[] = [];
        response.on("data", (chunk) => chunks.push(chunk));
        response.on("end", () => {
          JSON.parse(chunks.map((chunk) => new TextDecoder().decode(chunk)).join(""));
          resolve();
        });
      }).on("error", reject);
    });
  const began = performance.now();
  await Promise.all(Array.from({ length: COUNT }, ask));
  // deno-lint-ignore no-console
  console.log((performance.now() - began) / 1000);
  Deno.exit();
}

if (Deno.args[0] === "server") serve(Number(Deno.args[1] ?? 0));
else await load(Deno.args[0]!);
