/** Bodies that are large, steps that are many, and both. */
import { assertEquals } from "@std/assert";
import { runMain } from "../support/run/run_main.ts";
import { runNarrowed } from "../support/run/run_narrowed.ts";
import { echoServer } from "../support/servers/echo_sockets.ts";
import { nameServer } from "../support/servers/name_server.ts";
import { rawServer } from "../support/servers/raw_server.ts";
import { tlsCertificate } from "../support/servers/tls_fixture.ts";
import { withServer } from "../support/servers/with_server.ts";
import { withFiles } from "../support/temp_dir.ts";

Deno.test("10 MB, a hundred steps in a row and twenty at once: websocket, sse, tcp, tls, dns", async () => {
  await using sockets = echoServer();
  await using events = withServer(({ url }) => {
    const size = Number(new URL(url).searchParams.get("size"));
    const headers = { "content-type": "text/event-stream" };
    return new Response(`data: ${"x".repeat(size)}\n\n`, { headers });
  });
  await using secure = withServer(() => new Response(), tlsCertificate("good"));
  await using raw = rawServer(async ({ index, send }) => {
    await send(`${"x".repeat(index === 0 ? 10_000_000 : 10)}END`);
  });
  await using names = await nameServer({ "A shop.test": [{ type: "A", data: "192.0.2.1" }] });
  const steps = [
    `{ uses: websocket, with: { url: "${sockets.url}", send: a, expect: a } }`,
    `{ uses: sse, with: { url: "${events.url}?size=9", max_events: 1 }, test: status == 0 }`,
    `{ uses: tcp, with: { host: 127.0.0.1, port: ${raw.port}, expect: END } }`,
    `{ uses: tls, with: { host: 127.0.0.1, port: ${secure.port} }, test: status == 1 }`,
    `{ uses: dns, with: { name: shop.test, server: "${names.server}" }, test: status == 0 }`,
  ].map((step) => `      - ${step}\n`).join("");
  const workflow = `name: n
jobs:
  - name: large
    id: large
    steps:
      - uses: websocket
        with: { url: "${sockets.url}", send: large 10000000, max_messages: 1 }
        test: len(res.message) == 10000000
      - uses: sse
        with: { url: "${events.url}?size=10000000", max_events: 1 }
        test: len(res.event.data) == 10000000
      - uses: tcp
        with: { host: 127.0.0.1, port: ${raw.port}, read_until: END }
        test: res.bytes == 10000003
  - name: in a row
    needs: [large]
    repeat: { count: 100 }
    steps:
${steps}
  - name: at once
    needs: [large]
    repeat: { count: 20, async: true }
    steps:
${steps}`;
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const { code, stdout } = await runMain(["w.yml"], { cwd });
    assertEquals(code, 0, stdout.slice(0, 3000));
  });
});

Deno.test("the details of attempts do not keep the bodies that they are parts of", async () => {
  const body = "x ".repeat(100_000);
  await using server = withServer(() => new Response(body, { status: 503 }));
  const workflow = `name: w
jobs:
  - name: j
    repeat: { count: 100, async: true }
    steps:
      - uses: http
        with: { get: "${server.url}" }
        test: res.code == 200
        retry: { max_attempts: 10, interval: 0ms }
`;
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    // All bodies together are twice as much as fits into the memory.
    const flags = ["--allow-all", "--v8-flags=--max-old-space-size=120"];
    const { code, stdout, stderr } = await runNarrowed(
      flags,
      ["--report", "json=r.json", "w.yml"],
      {
        cwd,
      },
    );
    assertEquals(code, 1, stdout + stderr);
    const { jobs } = JSON.parse(await Deno.readTextFile(`${cwd}/r.json`));
    const [{ cause, count }] = jobs[0].tally.steps[0].failures;
    assertEquals([cause, count], ["w.yml:8:15 test is false (HTTP 503)", 100]);
  });
});
