/**
 * The two ends of the http bench. `server` answers on a free port and prints its URL; a number
 * after it is the response time in milliseconds, and `https` after that has it speak TLS. A URL as
 * argument is asked by node:http or node:https alone, over as many sockets as the http action may
 * open, and what each request takes is printed.
 *
 * @module
 */
import * as http from "node:http";
import * as https from "node:https";
import process from "node:process";
import { tlsCertificate } from "../../tests/support/servers/tls_fixture.ts";

const BODY = JSON.stringify({
  ok: true,
  items: Array.from({ length: 10 }, (_, id) => ({ id, name: "x" })),
});

/** The headers of the http action, so that both send the same requests. */
const HEADERS = {
  Accept: "*/*",
  "User-Agent": "runner",
  "Accept-Encoding": "gzip, deflate, br",
};

function serve(delay: number, scheme: string): void {
  Deno.serve({
    hostname: "127.0.0.1",
    port: 0,
    ...scheme === "https" && tlsCertificate("localhost"),
    // deno-lint-ignore no-console
    onListen: ({ port }) => console.log(`${scheme}://127.0.0.1:${port}/`),
  }, async () => {
    if (delay > 0) await new Promise((resolve) => setTimeout(resolve, delay));
    return new Response(BODY, { headers: { "content-type": "application/json" } });
  });
}

/** A request by node alone, with what a test of it would look at. */
function ask(url: string, method: string, agent: http.Agent): Promise<void> {
  const { request } = url.startsWith("https:") ? https : http;
  return new Promise((resolve, reject) => {
    const asked = request(url, { method, agent, headers: HEADERS }, (response) => {
      const chunks: Uint8Array[] = [];
      response.on("data", (chunk) => chunks.push(chunk));
      response.on("end", () => {
        const { ok } = JSON.parse(chunks.map((chunk) => new TextDecoder().decode(chunk)).join(""));
        if (response.statusCode === 200 && ok) resolve();
        else reject(new Error(`${method} ${url}: ${response.statusCode}`));
      });
    });
    asked.on("error", reject);
    asked.end();
  });
}

async function load(url: string, method: string, mode: string, count: number): Promise<void> {
  const { Agent } = url.startsWith("https:") ? https : http;
  const agent = new Agent({ keepAlive: true, maxTotalSockets: 1024, rejectUnauthorized: false });
  const run = async (count: number) => {
    if (mode === "async") {
      await Promise.all(Array.from({ length: count }, () => ask(url, method, agent)));
    } else {
      for (let i = 0; i < count; i++) await ask(url, method, agent);
    }
  };
  await run(3000);
  const before = process.cpuUsage();
  await run(count);
  const { user, system } = process.cpuUsage(before);
  // deno-lint-ignore no-console
  console.log(JSON.stringify({
    microseconds: (user + system) / count,
    megabytes: Math.round(process.memoryUsage().rss / 2 ** 20),
  }));
  Deno.exit();
}

const [url = "", ...args] = Deno.args;
if (url === "server") {
  const [delay = "0", scheme = "http"] = args;
  serve(Number(delay), scheme);
} else {
  const [method = "GET", mode = "async", count = "10000"] = args;
  await load(url, method, mode, Number(count));
}
