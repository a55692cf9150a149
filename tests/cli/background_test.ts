import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { runCli } from "../support/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";

/** Runs a workflow that starts a command in the background, and then another. */
function inBackground(cmd: string, then: string, env: Record<string, string> = {}) {
  const workflow = `name: n
jobs:
  - name: j
    steps:
      - id: service
        uses: shell
        with: { cmd: ${JSON.stringify(cmd)}, background: true }
        outputs: { pid: res.pid, log: res.log }
      - uses: shell
        with: { cmd: ${JSON.stringify(then)} }
        test: res.code == 0
`;
  return withFiles({ "w.yml": workflow }, (cwd) => runCli(["-q", "w.yml"], { cwd, env }));
}

/** Waits until the command is gone, and long enough for messages about it. */
const UNTIL_GONE = "while kill -0 {{outputs.service.pid}} 2>&-; do sleep 0.05; done; sleep 0.5";

Deno.test("a command in the background that fails by itself is warned of, with its last line", async () => {
  const cmd = "echo starting; echo 'the port is taken' >&2; exit 3";
  const { code, stderr } = await inBackground(cmd, UNTIL_GONE);
  assertEquals([code, stderr], [
    0,
    "warning: job_0 › step 1: the command in the background ended with exit code 3: " +
    "the port is taken\n",
  ]);
});

Deno.test("the warning of a command in the background shows no secret", async () => {
  const env = { A_TOKEN: "supersecret" };
  const { stderr } = await inBackground('echo "no access with $A_TOKEN"; exit 1', UNTIL_GONE, env);
  assertStringIncludes(stderr, "exit code 1: no access with ***\n");
});

Deno.test("the warning of a command in the background shows no part of a line that is too long", async () => {
  const env = { A_TOKEN: "supersecret" };
  const cmd = 'printf "$A_TOKEN"; head -c 65530 /dev/zero | tr "\\0" x; exit 1';
  const { stderr } = await inBackground(cmd, UNTIL_GONE, env);
  assertStringIncludes(stderr, "ended with exit code 1\n");
});

Deno.test("a command in the background that a step or the run ends is not warned of", async () => {
  const stop = `kill {{outputs.service.pid}}; ${UNTIL_GONE}`;
  for (
    const [cmd, then] of [
      ["exec sleep 60", stop],
      ["trap 'exit 143' TERM; while :; do sleep 0.05; done", `sleep 0.3; ${stop}`],
      ["trap 'exit 1' TERM; while :; do sleep 0.05; done", "sleep 0.3"],
      ["exit 0", UNTIL_GONE],
    ] as const
  ) {
    const { code, stderr } = await inBackground(cmd, then);
    assertEquals([code, stderr], [0, ""], cmd);
  }
});

Deno.test("a step that waits for a background server reports how the server ended", async () => {
  const workflow = `name: n
jobs:
  - name: j
    steps:
      - name: server
        uses: shell
        with: { cmd: "echo 'the port is taken'; exit 2", background: true }
      - name: is it ready
        uses: http
        with: { get: "http://127.0.0.1:1/" }
        test: res.code == 200
        retry: { max_attempts: 5, interval: 150ms }
`;
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const { code, stdout } = await runCli(["w.yml"], { cwd });
    assertEquals(code, 1);
    const words = "the command in the background ended with exit code 2: the port is taken";
    assertStringIncludes(stdout, `hint: ${words}`);
    assert(!stdout.includes("is the server running there"), stdout);
  });
});
