import { assertEquals, assertStringIncludes } from "@std/assert";
import { runCli } from "../support/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";

/** A Redis server with a password on a free port, gone when it leaves its scope. */
async function redisServer(dir: string) {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  listener.close();
  const child = new Deno.Command("redis-server", {
    args: ["--port", `${port}`, "--bind", "127.0.0.1", "--requirepass", "open-sesame-42"]
      .concat(["--save", "", "--dir", dir]),
    stdout: "piped",
    stderr: "null",
  }).spawn();
  let said = "";
  const decoder = new TextDecoder();
  const reader = child.stdout.getReader();
  while (!said.includes("Ready to accept connections")) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`redis-server ended: ${said}`);
    said += decoder.decode(value);
  }
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill("SIGTERM");
      await reader.cancel();
      await child.status;
    },
  };
}

const FLOW = `
name: Redis
jobs:
  - name: Values
    defaults:
      redis: { url: "{{vars.url}}" }
    steps:
      - uses: redis
        with: { command: "SET greeting 'hello world'" }
        test: res.reply == "OK"
      - uses: redis
        with: { commands: [[GET, greeting], [RPUSH, list, a, b], [LRANGE, list, 0, -1], [GET, nothing]] }
        test: res.replies == ["hello world", 2, ["a", "b"], nil]
      - uses: redis
        with: { command: [INCR, greeting] }
        test: status == 1 && res.error_code == "ERR"
      - name: one connection serves the job
        uses: redis
        with: { command: INFO clients }
        test: res.reply contains "connected_clients:1\\r\\n"
vars:
  url: "{{REDIS_URL}}"
`;

Deno.test("redis speaks to a Redis server, and shows its password nowhere", async () => {
  await withFiles({ "flow.yml": FLOW }, async (dir) => {
    await using server = await redisServer(dir);
    const run = (url: string) =>
      runCli(["-v", "--report", "json=report.json", "flow.yml"], {
        cwd: dir,
        env: { REDIS_URL: url },
      });
    const good = await run(`redis://:open-sesame-42@127.0.0.1:${server.port}/0`);
    assertEquals(good.code, 0, good.stdout);
    const report = await Deno.readTextFile(`${dir}/report.json`);
    assertEquals((good.stdout + good.stderr + report).includes("open-sesame-42"), false);
    const wrong = await run(`redis://:another-password@127.0.0.1:${server.port}/0`);
    assertEquals(wrong.code, 1);
    assertStringIncludes(
      wrong.stdout,
      `at 127.0.0.1 port ${server.port}: sign-in failed: WRONGPASS`,
    );
    assertEquals(wrong.stdout.includes("another-password"), false);
  });
  const refused = await withFiles(
    { "flow.yml": FLOW },
    (dir) => runCli(["flow.yml"], { cwd: dir, env: { REDIS_URL: "redis://127.0.0.1:1" } }),
  );
  assertStringIncludes(
    refused.stdout,
    "cannot connect to redis at 127.0.0.1 port 1: 127.0.0.1 port 1 refused the connection (ECONNREFUSED)",
  );
});
