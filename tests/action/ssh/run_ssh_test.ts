import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import type { Dict } from "../../../src/action/action.ts";
import { runSsh } from "../../../src/action/ssh/run_ssh.ts";
import { StepError } from "../../../src/base/errors.ts";
import { rawServer } from "../../support/servers/raw_server.ts";
import { actionContext, type TestContext } from "../../support/action_context.ts";
import { type InProcessSsh, sshServer } from "../../support/servers/ssh_server.ts";

const runOn = (server: InProcessSsh, context: TestContext) => async (with_: Dict) => {
  const { port, user, key, knownHost } = server;
  const given = { host: "127.0.0.1", port, user, key_file: key, known_hosts: knownHost };
  const { res, status, req } = await runSsh({ ...given, ...with_ }, context);
  return { ...res, status, req } as Dict;
};

async function refusalOf(promise: Promise<unknown>): Promise<string> {
  const { message, hint } = await assertRejects(() => promise, StepError);
  return `${message}\n${hint}`;
}

Deno.test("ssh runs commands of a job on one connection", async () => {
  await using server = await sshServer();
  await using context = actionContext();
  const run = runOn(server, context);
  const first = await run({ cmd: "echo out; echo err >&2; exit 3" });
  assertEquals(
    [first.code, first.status, first.stdout, first.stderr, first.signal],
    [3, 1, "out\n", "err\n", null],
  );
  const second = await run({
    cmd: 'cat; echo "$A $B"; pwd',
    stdin: "in ",
    env: { A: "it's", B: 2 },
    workdir: "/",
  });
  assertEquals([second.status, second.stdout], [0, "in it's 2\n/\n"]);
  const killed = await run({ cmd: "kill -9 $$" });
  assertEquals([killed.code, killed.signal, killed.status], [-1, "SIGKILL", 1]);
  assertEquals((await run({ cmd: "no-such-command" })).code, 127);
  assertEquals(server.connections.opened, 1);
  await run({ cmd: "true", fresh: true });
  await run({ cmd: "true", connection: "main" });
  assertEquals(server.connections.opened, 3);
});

Deno.test("ssh keeps the end of an output of 10 MB, or all of it", async () => {
  await using server = await sshServer();
  await using context = actionContext();
  const run = runOn(server, context);
  const cmd = "head -c 10000000 /dev/zero | tr '\\0' x; echo end";
  const cut = await run({ cmd });
  assertEquals([cut.truncated, cut.stdout_bytes], [true, 10_000_004]);
  assertEquals(String(cut.stdout).slice(-5), "xend\n");
  const whole = await run({ cmd, max_output: 20_000_000 });
  assertEquals([whole.truncated, String(whole.stdout).length], [false, 10_000_004]);
});

Deno.test("ssh signs in with a password, and by questions", async () => {
  for (const asks of [false, true]) {
    await using server = await sshServer({ asks });
    await using context = actionContext();
    const run = runOn(server, context);
    const good = { key_file: null, password: server.password };
    assertEquals((await run({ ...good, cmd: "echo hello" })).stdout, "hello\n");
    assertEquals(context.learned, [server.password]);
    const method = `password${asks ? " and keyboard-interactive" : ""}`;
    assertStringIncludes(
      await refusalOf(run({ key_file: null, password: "wrong-word", cmd: "true" })),
      `cannot connect to ssh at 127.0.0.1 port ${server.port}: sign-in of "deploy" failed by ` +
        `${method}: permission denied (${asks ? "keyboard-interactive" : "publickey,password"})`,
    );
  }
});

Deno.test("ssh checks the key of the host", async () => {
  await using server = await sshServer();
  await using context = actionContext();
  const run = runOn(server, context);
  const other = server.knownHost.replace(server.hostKey, server.hostKey.slice(0, -4) + "AAAA");
  const cases: readonly (readonly [known: string, words: string])[] = [
    ["other ssh-ed25519 AAAAC3Nz", "is unknown; known_hosts has no key of 127.0.0.1 port"],
    [other, "the host key has changed: it is ssh-ed25519 SHA256:"],
    [
      server.knownHost.trimEnd().slice(0, -3),
      "known_hosts:1 has a key that is not complete",
    ],
    [`${server.knownHost}@revoked * ssh-ed25519 ${server.hostKey}`, "is revoked by known_hosts:2"],
    ["@cert-authority * ssh-ed25519 AAAAC3Nz", "certificates of hosts (@cert-authority)"],
  ];
  for (const [known_hosts, words] of cases) {
    const said = await refusalOf(run({ known_hosts, cmd: "true" }));
    assertStringIncludes(said, "host key verification failed");
    assertStringIncludes(said, words);
    const unchecked = await run({ known_hosts, strict_host_check: false, cmd: "echo x" });
    assertEquals(unchecked.stdout, "x\n");
  }
  const anyPort = `127.0.0.1 ssh-ed25519 ${server.hostKey}`;
  assertEquals((await run({ known_hosts: anyPort, cmd: "echo x" })).stdout, "x\n");
  assertStringIncludes(
    await refusalOf(run({ known_hosts: anyPort.slice(0, -4) + "AAAA", cmd: "true" })),
    "is unknown; known_hosts has no key of 127.0.0.1 port",
  );
  assertStringIncludes(
    await refusalOf(run({ port: "70000", cmd: "true" })),
    "127.0.0.1 port 70000: invalid port (ERR_SOCKET_BAD_PORT)\nports are 1 to 65535",
  );
  assertStringIncludes(
    await refusalOf(run({ known_hosts: "/nonexistent", cmd: "true" })),
    'cannot read the known hosts file "/nonexistent": no such file (ENOENT)',
  );
  assertStringIncludes(
    await refusalOf(run({ known_hosts: "", cmd: "true" })),
    "cannot read the known hosts file: its path is empty",
  );
});

Deno.test("ssh connects through other hosts", async () => {
  await using server = await sshServer();
  await using context = actionContext();
  const run = runOn(server, context);
  // The server of this test forwards nothing.
  assertStringIncludes(
    await refusalOf(run({ jump: `127.0.0.1:${server.port}`, cmd: "true" })),
    `cannot connect to 127.0.0.1 port ${server.port} through the jump host: `,
  );
  assertStringIncludes(
    await refusalOf(run({ jump: "user:word@host", cmd: "true" })),
    'invalid jump host "user:word@host"',
  );
  assertEquals(context.learned.includes("word"), true);
});

Deno.test("ssh ends a command on the server when its time is over", async () => {
  await using server = await sshServer();
  await using context = actionContext();
  const run = runOn(server, context);
  const { message, details } = await assertRejects(
    () => run({ cmd: "echo begun; exec sleep 60", timeout: "1s" }),
    StepError,
  );
  assertEquals(
    message,
    `timed out after 1s while the command ran on 127.0.0.1 port ${server.port}`,
  );
  assertEquals(details.res?.stdout, "begun\n");
  assertEquals(server.signals, ["TERM"]);
  const ignored = "trap '' TERM; echo begun; while :; do :; done";
  assertStringIncludes(
    await refusalOf(run({ cmd: ignored, timeout: "500ms" })),
    "while the command ran",
  );
  assertEquals(server.signals, ["TERM", "TERM", "KILL"]);
  assertEquals((await run({ cmd: "echo next" })).stdout, "next\n");
  assertEquals(server.connections.opened, 1);
  assertEquals(context.stops, 0);
});

Deno.test("ssh says in which phase its time was over", async () => {
  await using context = actionContext();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const accepted = listener.accept();
  const login = { host: "127.0.0.1", port, user: "u", password: "p", strict_host_check: false };
  assertStringIncludes(
    await refusalOf(runSsh({ ...login, cmd: "true", timeout: "400ms" }, context)),
    `timed out after 400ms while exchanging keys with 127.0.0.1 port ${port}`,
  );
  (await accepted).close();
  await using other = rawServer(async (connection) => {
    await connection.send("220 mail.example ESMTP\r\n");
    await connection.closed();
  });
  assertStringIncludes(
    await refusalOf(
      runSsh({ ...login, port: other.port, cmd: "true", timeout: "400ms" }, context),
    ),
    'it does not speak SSH: it sent "220 mail.example ESMTP',
  );
  const closing = listener.accept().then((connection) => connection.close());
  assertStringIncludes(
    await refusalOf(runSsh({ ...login, cmd: "true" }, context)),
    "the server closed the connection",
  );
  await closing;
  listener.close();
  assertStringIncludes(
    await refusalOf(runSsh({ ...login, cmd: "true" }, context)),
    `127.0.0.1 port ${port} refused the connection (ECONNREFUSED)`,
  );
});

Deno.test("ssh runs as many commands at once as the server allows, and all in the end", async () => {
  await using server = await sshServer({ maxSessions: 3 });
  await using context = actionContext();
  const run = runOn(server, context);
  const all = await Promise.all(
    Array.from({ length: 20 }, (_, index) => run({ cmd: `echo ${index}` })),
  );
  assertEquals(all.map(({ stdout }) => stdout), all.map((_, index) => `${index}\n`));
  assertEquals(server.connections.opened, 1);
});

Deno.test("ssh connects anew after a connection was lost", async () => {
  await using server = await sshServer();
  await using context = actionContext();
  const run = runOn(server, context);
  await run({ cmd: "true" });
  assertEquals(server.connections.open, 1);
  server.drop();
  // Meanwhile the client hears of it.
  await run({ cmd: "true", fresh: true });
  const both = await Promise.all([run({ cmd: "echo a" }), run({ cmd: "echo b" })]);
  assertEquals(both.map(({ stdout }) => stdout), ["a\n", "b\n"]);
  assertEquals(server.connections.opened, 3);
});
