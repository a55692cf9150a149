/**
 * Carries out rounds of a job of one step, and prints what each takes: microseconds of CPU, and the
 * megabytes of the process in the end; with `allocated` its kilobytes and promises too. The step is
 * `hello`, a request (`GET http://…`), or `stub`: a request whose response comes in the next turn of
 * the event loop, without a connection.
 *
 * @module
 */
import process from "node:process";
import { HttpClient } from "../../src/actions/http/transport/client.ts";
import { main } from "../../src/cli/main.ts";
import { denoHost } from "../../src/host/deno_host.ts";

const [directory = "", kind = "hello", mode = "async", rounds = "10000", what] = Deno.args;

const BODY = new TextEncoder().encode('{"ok":true,"name":"a thing"}');
const HEADERS = Object.entries({
  "Content-Type": "application/json",
  "Content-Length": "28",
  "Connection": "keep-alive",
  "Date": "Thu, 01 Jan 1970 00:00:00 GMT",
  "Server": "nginx",
}).flat();

if (kind === "stub") {
  HttpClient.prototype.send = (_request, options) => {
    options.onDispatch();
    const reply = {
      ...{ code: 200, reason: "OK", version: "1.1", rawTrailers: [] },
      rawHeaders: HEADERS,
      body: BODY,
      phases: { dns: 0, connect: 0, tls: 0, first_byte: 0.2, download: 0.1 },
    };
    return { reply: new Promise((resolve) => setImmediate(resolve, reply)), abort() {} };
  };
}

const [method, url] = kind === "stub" ? ["GET", "http://127.0.0.1:1/"] : kind.split(" ");
const step = kind === "hello"
  ? "{ uses: hello }"
  : `{ uses: http, with: { method: ${method}, url: "${url}", insecure: true }, ` +
    "test: res.code == 200 && res.body.ok }";

const host = denoHost();
const silent = { ...host.stdout, write: () => true };
Deno.env.set("RUNNER_MAX_REPEAT_COUNT", "1000000");

async function run(count: number): Promise<void> {
  const path = `${directory}/${crypto.randomUUID()}.yml`;
  const repeat = `{ count: ${count}, interval: 0s, async: ${mode === "async"} }`;
  await Deno.writeTextFile(
    path,
    `name: n\njobs:\n  - name: j\n    repeat: ${repeat}\n    steps: [${step}]\n`,
  );
  const code = await main([path], { ...host, stdout: silent }, () => {});
  if (code !== 0) throw new Error(`the run of ${path} failed`);
}

/** What the engine tells about itself. */
interface Core {
  setPromiseHooks(...hooks: (() => void)[]): void;
}

const isCounting = what === "allocated";
// What is compiled after some rounds is not theirs.
await run(isCounting ? 500 : 3000);
let promises = 0;
if (isCounting) {
  const { core } = Reflect.get(Deno, Object.getOwnPropertySymbols(Deno)[0]!) as { core: Core };
  core.setPromiseHooks(() => promises++, () => {}, () => {}, () => {});
}
const before = process.cpuUsage();
const heap = process.memoryUsage().heapUsed;
await run(Number(rounds));
const { user, system } = process.cpuUsage(before);
const each = (value: number) => Math.round(value / Number(rounds) * 100) / 100;
// deno-lint-ignore no-console
console.log(JSON.stringify({
  microseconds: each(user + system),
  megabytes: Math.round(process.memoryUsage().rss / 2 ** 20),
  // Nothing is collected meanwhile if V8 was given enough room.
  ...isCounting && {
    kilobytes: each((process.memoryUsage().heapUsed - heap) / 1024),
    promises: each(promises),
  },
}));
Deno.exit(0);
