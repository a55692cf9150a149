/**
 * Carries out rounds of a job of one step, and prints what each takes: microseconds of CPU, kilobytes
 * and promises, and the megabytes of the process in the end. The step is `hello`, an action in the
 * place of http that waits for a turn of the event loop, or a request to a URL.
 *
 * @module
 */
import process from "node:process";
import type { RunAction } from "../../src/action/action.ts";
import { hello } from "../../src/actions/hello.ts";
import { main } from "../../src/cli/main.ts";
import { denoHost } from "../../src/host/deno_host.ts";

const [directory = "", kind = "hello", mode = "async", rounds = "20000"] = Deno.args;

const BODY = '{"ok":true,"name":"a thing"}';

/** Answers as a server does, in the next turn of the event loop. */
const answer: RunAction = () =>
  new Promise((resolve) => setImmediate(() => resolve({ ...exchange(), brief: "HTTP 200" })));

function exchange() {
  const headers = {
    "Content-Type": "application/json",
    "Content-Length": "28",
    "Connection": "keep-alive",
    "Date": "Thu, 01 Jan 1970 00:00:00 GMT",
    "Server": "nginx",
  };
  return {
    req: REQUEST,
    res: { code: 200, status: "200 OK", headers, body: JSON.parse(BODY), rawbody: BODY },
    status: 0,
  };
}

const REQUEST = { method: "GET", url: "http://localhost/", headers: {}, body: "" };

if (kind === "stub") Object.assign(hello, { load: () => Promise.resolve(answer) });

const step = kind === "hello"
  ? "{ uses: hello }"
  : kind === "stub"
  ? "{ uses: hello, test: res.code == 200 && res.body.ok }"
  : `{ uses: http, with: { get: "${kind}" }, test: res.code == 200 && res.body.ok }`;

const host = denoHost();
const silent = { ...host.stdout, write: () => true };

async function run(count: number): Promise<void> {
  const path = `${directory}/rounds_${kind.replace(/\W/g, "_")}_${mode}_${count}.yml`;
  const repeat = `{ count: ${count}, interval: 0s, async: ${mode === "async"} }`;
  await Deno.writeTextFile(
    path,
    `name: n\njobs:\n  - name: j\n    repeat: ${repeat}\n    steps: [${step}]\n`,
  );
  const code = await main([path], { ...host, stdout: silent }, () => {});
  if (code !== 0) throw new Error(`${path} failed`);
}

/** Whether V8 was told to collect nothing, so that all that is allocated can be seen. */
const countsBytes = Deno.args.includes("bytes");
await run(countsBytes ? 200 : 3000);
let promises = 0;
if (countsBytes) {
  const { core } = Reflect.get(Deno, Object.getOwnPropertySymbols(Deno)[0]!) as { core: Core };
  core.setPromiseHooks(() => promises++, () => {}, () => {}, () => {});
}
interface Core {
  setPromiseHooks(...hooks: (() => void)[]): void;
}
const before = process.cpuUsage();
const heap = process.memoryUsage().heapUsed;
await run(Number(rounds));
const { user, system } = process.cpuUsage(before);
const per = (value: number) => Math.round(value / Number(rounds) * 100) / 100;
// deno-lint-ignore no-console
console.log(JSON.stringify({
  microseconds: per(user + system),
  kilobytes: countsBytes ? per((process.memoryUsage().heapUsed - heap) / 1024) : undefined,
  promises: countsBytes ? per(promises) : undefined,
  megabytes: Math.round(process.memoryUsage().rss / 2 ** 20),
}));
Deno.exit(0);
