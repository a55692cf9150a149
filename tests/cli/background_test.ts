import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { runCli } from "../support/run/run_cli.ts";
import { freePort } from "../support/servers/free_port.ts";
import { runUntilPrinted } from "../support/run/run_until_printed.ts";
import { withFiles } from "../support/temp_dir.ts";

/** A step that starts a command in the background. */
const service = (cmd: string) =>
  `      - id: service
        uses: shell
        with: { cmd: ${JSON.stringify(cmd)}, background: true }
        outputs: { pid: res.pid }
`;

/** A step that waits until the program has printed the words that a test waits for. */
const WAIT = `      - { name: wait, uses: http, with: { get: "{url}/" }, test: res.code == 200 }
`;

const flow = (...steps: readonly string[]) =>
  `name: n\njobs:\n  - name: j\n    steps:\n${steps.join("")}`;

/** Runs a workflow that starts a command in the background and waits for the words. */
function inBackground(cmd: string, words: string, env: Record<string, string> = {}) {
  return runUntilPrinted(words, flow(service(cmd), WAIT), ["-q"], { env });
}

Deno.test("a command in the background that fails by itself is warned of, with its last line", async () => {
  const cmd = "echo starting; echo 'the port is taken' >&2; exit 3";
  const { code, stderr } = await inBackground(cmd, "taken\n");
  assertEquals([code, stderr], [
    0,
    "warning: j › step 1: the command in the background ended with exit code 3: " +
    "the port is taken\n",
  ]);
});

Deno.test("the warning of a command in the background shows no secret", async () => {
  const env = { A_TOKEN: "supersecret" };
  const { stderr } = await inBackground('echo "no access with $A_TOKEN"; exit 1', "***\n", env);
  assertStringIncludes(stderr, "exit code 1: no access with ***\n");
});

Deno.test("the warning of a command in the background shows no part of a line that is too long", async () => {
  const env = { A_TOKEN: "supersecret" };
  const cmd = 'printf "$A_TOKEN"; head -c 65530 /dev/zero | tr "\\0" x; exit 1';
  const { stderr } = await inBackground(cmd, "exit code 1", env);
  assertStringIncludes(stderr, "ended with exit code 1\n");
});

Deno.test("a command in the background that a step ends or that succeeds is not warned of", async () => {
  const stop = "until [ -e ready ]; do sleep 0.01; done; kill {{outputs.service.pid}}";
  const loop = "echo > ready; while :; do sleep 0.05; done";
  for (
    const [cmd, then] of [
      ["echo > ready; exec sleep 60", stop],
      [`trap 'exit 143' TERM; ${loop}`, stop],
      ["exit 0", "true"],
    ] as const
  ) {
    // One that fails after the first has ended is warned of, and so would have been the first.
    const next = `${then}; while kill -0 {{outputs.service.pid}} 2>&-; do sleep 0.01; done; exit 9`;
    const last = `      - { name: next, uses: shell, with: { cmd: ${
      JSON.stringify(next)
    }, background: true } }\n`;
    const { code, stderr } = await runUntilPrinted("code 9", flow(service(cmd), last, WAIT), [
      "-q",
    ]);
    const words = "warning: j › step 2: the command in the background ended with exit code 9\n";
    assertEquals([code, stderr], [0, words], cmd);
  }
});

Deno.test("a command in the background that the end of the run ends is not warned of", async () => {
  const cmd = "trap 'exit 1' TERM; echo > ready; while :; do sleep 0.05; done";
  const ready =
    '      - { uses: shell, with: { cmd: "until [ -e ready ]; do sleep 0.01; done" } }\n';
  await withFiles({ "w.yml": flow(service(cmd), ready) }, async (cwd) => {
    const { code, stderr } = await runCli(["-q", "w.yml"], { cwd });
    assertEquals([code, stderr], [0, ""]);
  });
});

Deno.test("a step that needs a background server reports how the server ended", async () => {
  const ask = `      - name: is it ready
        uses: http
        with: { get: "http://127.0.0.1:1/" }
        test: res.code == 200
        retry: { max_attempts: 2, interval: 1ms }
`;
  const words = "the command in the background ended with exit code 2: the port is taken";
  const steps = [service("echo 'the port is taken'; exit 2"), WAIT, ask];
  const { code, stdout } = await runUntilPrinted(words, flow(...steps));
  assertEquals(code, 1);
  assertStringIncludes(stdout, `hint: ${words}`);
  assert(!stdout.includes("is the server running there"), stdout);
});

const ASKS: readonly ((port: number) => string)[] = [
  (port) => `{ uses: http, with: { get: "http://127.0.0.1:${port}/" }, test: res.code == 200 }`,
  (port) =>
    `{ uses: tcp, with: { host: 127.0.0.1, port: ${port}, send: "GET / HTTP/1.0\\r\\n\\r\\n", expect: y } }`,
  (port) => `{ uses: grpc, with: { addr: "127.0.0.1:${port}", service: a.B, method: C } }`,
];

Deno.test("a request whose server crashes reports the exit code of the server", async () => {
  for (const ask of ASKS) {
    const port = freePort();
    const server = `Deno.serve({ port: ${port}, onListen() {} }, () => {
      console.log("out of tea");
      Deno.exit(7);
    })`;
    await withFiles({
      "server.ts": server,
      "w.yml": flow(
        service(`exec '${Deno.execPath()}' run -A --no-config server.ts`),
        `      - uses: tcp
        with: { host: 127.0.0.1, port: ${port} }
        retry: { max_attempts: 200, interval: 50ms }
      - ${ask(port)}
`,
      ),
    }, async (cwd) => {
      const { code, stdout, stderr } = await runCli(["w.yml"], { cwd });
      assertEquals(code, 1);
      const words = "the command in the background ended with exit code 7: out of tea";
      assertStringIncludes(stdout, `hint: ${words}`);
      assert(!stdout.includes("https://"), stdout);
      assertEquals(stderr, `warning: j › step 1: ${words}\n`);
    });
  }
});
