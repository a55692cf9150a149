import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { createHmac, generateKeyPairSync } from "node:crypto";
import ssh2 from "ssh2";
import type { Dict } from "../../../src/action/action.ts";
import { ActionAttempt } from "../../../src/action/attempt.ts";
import { loadKey } from "../../../src/actions/ssh/credentials.ts";
import {
  algorithmsFor,
  judgeHostKey,
  linesAbout,
  parseKnownHosts,
} from "../../../src/actions/ssh/host_keys.ts";
import { Slots } from "../../../src/actions/ssh/ssh_connection.ts";
import { type RemoteCommand, scriptOf, ssh } from "../../../src/actions/ssh/ssh.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext, type TestContext } from "../../support/action_context.ts";
import { runnerOf } from "../../support/run_action.ts";
import { rawServer } from "../../support/servers/raw_server.ts";
import { type InProcessSsh, makeKeyPair, sshServer } from "../../support/servers/ssh_server.ts";

const runSsh = runnerOf(ssh);

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
    "cannot run ssh: invalid port 70000\nports are 1 to 65535",
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
    'invalid jump host "user:***@host"',
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
  assertEquals(details.req?.timeout, "1s");
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
  // A port that has just been closed may answer once more, with a reset.
  assertStringIncludes(
    await refusalOf(runSsh({ ...login, port: 1, cmd: "true" }, context)),
    "127.0.0.1 port 1 refused the connection (ECONNREFUSED)",
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

Deno.test("a step whose time is over does not end the connecting for others", async () => {
  await using server = await sshServer();
  await using context = actionContext();
  const run = runOn(server, context);
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  const login = { port, strict_host_check: false };
  const first = refusalOf(run({ ...login, cmd: "true", timeout: "300ms" }));
  const second = run({ ...login, cmd: "echo x" });
  const silent = await listener.accept();
  assertStringIncludes(await first, "timed out after 300ms while exchanging keys with");
  const connection = await listener.accept();
  const other = await Deno.connect({ hostname: "127.0.0.1", port: server.port });
  const pipes = [
    connection.readable.pipeTo(other.writable),
    other.readable.pipeTo(connection.writable),
  ];
  assertEquals((await second).stdout, "x\n");
  silent.close();
  listener.close();
  server.drop();
  await Promise.allSettled(pipes);
});

Deno.test("ssh says before a run what is wrong with its parameters", () => {
  const problemsOf = (params: Dict) => ssh.problems!(params).map(({ message }) => message);
  const login = { host: "h", user: "u" };
  assertEquals(problemsOf({ ...login, password: "", key_file: null, cmd: "true" }), [
    'ssh needs "password", "key_file" or "agent" to sign in',
  ]);
  assertEquals(problemsOf({ ...login, key_file: "{{KEY}}" }), [
    'ssh needs "cmd", "upload" or "download"',
  ]);
  assertEquals(problemsOf({ ...login, agent: true, upload: { a: ["b"] }, env: {}, port: 0 }), [
    "invalid port 0",
    '"upload.a" must be a string, not a list',
    '"env" needs "cmd"',
  ]);
  const env = { "A-B": "{{x}}", C: "{{y}}", D: null };
  assertEquals(problemsOf({ ...login, agent: true, cmd: "true", env, jump: "a, b/c" }), [
    'invalid name of a variable "A-B"',
    'invalid jump host "b/c"',
  ]);
});

const KEY = "AAAAC3NzaC1lZDI1NTE5AAAAIKey";

/** A hashed name, as `ssh-keygen -H` writes it. */
function hashed(name: string): string {
  const salt = "c2FsdHNhbHRzYWx0c2FsdHNhbHQ=";
  const bytes = Uint8Array.fromBase64(salt);
  return `|1|${salt}|${createHmac("sha1", bytes).update(name).digest("base64")}`;
}

const NAMES: readonly (readonly [names: string, host: string, port: number, fits: boolean])[] = [
  ["app.example.com", "app.example.com", 22, true],
  ["App.Example.com", "app.example.COM", 22, true],
  ["app.example.com,10.0.0.7", "10.0.0.7", 22, true],
  ["app.example.com", "app.example.com", 2222, false],
  ["[app.example.com]:2222", "app.example.com", 2222, true],
  ["[app.example.com]:2222", "app.example.com", 22, false],
  ["*.example.com", "app.example.com", 22, true],
  ["*.example.com", "example.com", 22, false],
  ["*.example.com", "app-example-com", 22, false],
  ["app?.example.com", "app1.example.com", 22, true],
  ["app?.example.com", "app12.example.com", 22, false],
  ["*.example.com,!db.example.com", "db.example.com", 22, false],
  ["!db.example.com", "app.example.com", 22, false],
  ["[*.example.com]:2222", "app.example.com", 2222, true],
  ["2001:db8::1", "2001:db8::1", 22, true],
  [hashed("app.example.com"), "app.example.com", 22, true],
  [hashed("app.example.com"), "db.example.com", 22, false],
  [hashed("[app.example.com]:2222"), "app.example.com", 2222, true],
  ["|1|not base64|x", "app.example.com", 22, false],
  ["|1|c2Fsd|x", "app.example.com", 22, false],
];

Deno.test("linesAbout() finds the lines about a host and a port", async () => {
  for (const [names, host, port, fits] of NAMES) {
    const found = await linesAbout({ host, port }, parseKnownHosts(`${names} ssh-ed25519 K`, "f"));
    assertEquals(found.length, fits ? 1 : 0, `${names} for ${host}:${port}`);
  }
});

Deno.test("parseKnownHosts() leaves out comments and invalid lines", () => {
  const text =
    `# a comment\n\nhost ssh-rsa\r\n  host ssh-rsa A comment\r\n@other host ssh-rsa A\n` +
    `@revoked * ssh-rsa B\n@cert-authority *.a ssh-rsa C\n`;
  assertEquals(
    parseKnownHosts(text, "f").map((
      { marker, names, key, location },
    ) => [marker, names, key, location]),
    [
      [undefined, "host", "A", "f:4"],
      ["revoked", "*", "B", "f:6"],
      ["cert-authority", "*.a", "C", "f:7"],
    ],
  );
});

Deno.test("judgeHostKey() knows, does not know, refuses and misses a key", () => {
  const judge = (text: string) => judgeHostKey(KEY, parseKnownHosts(text, "f")).kind;
  assertEquals(judge(""), "unknown");
  assertEquals(judge(`h ssh-ed25519 ${KEY}`), "known");
  assertEquals(judge("h ssh-ed25519 OTHER"), "changed");
  assertEquals(judge(`h ssh-ed25519 OTHER\nh ssh-ed25519 ${KEY}`), "known");
  assertEquals(judge(`h ssh-ed25519 ${KEY}\n@revoked * ssh-ed25519 ${KEY}`), "revoked");
  assertEquals(judge("@revoked * ssh-ed25519 OTHER"), "unknown");
  assertEquals(judge(`@cert-authority * ssh-ed25519 ${KEY}`), "unknown");
});

Deno.test("algorithmsFor() asks for the types of keys that are known", () => {
  const lines = parseKnownHosts("h ecdsa-sha2-nistp256 A\nh ssh-rsa B\n@revoked h ssh-dss C", "f");
  assertEquals(algorithmsFor([]), undefined);
  assertEquals(algorithmsFor(lines)?.slice(0, 5), [
    "ecdsa-sha2-nistp256",
    "rsa-sha2-512",
    "rsa-sha2-256",
    "ssh-rsa",
    "ssh-ed25519",
  ]);
});

const { utils } = ssh2;
const PASSPHRASE = "pass phrase";

/** The type of a key once it is loaded, if it can sign. */
async function typeOf(text: string, passphrase?: string): Promise<string> {
  const loaded = await loadKey(text, passphrase, "the key");
  const parsed = utils.parseKey(loaded.privateKey, loaded.passphrase);
  const key = Array.isArray(parsed) ? parsed[0]! : parsed;
  if (key instanceof Error) throw key;
  const { sign } = key as unknown as { sign(data: Uint8Array): Uint8Array | Error };
  const signature = sign.call(key, new TextEncoder().encode("data"));
  if (signature instanceof Error) throw signature;
  return key.type;
}

Deno.test("loadKey() takes keys of OpenSSH, encrypted or not", async () => {
  // Half of all elliptic keys begin with a byte that the format repeats.
  for (const bits of [256, 384, 521]) {
    for (let count = 0; count < 8; count++) {
      const { private: text } = utils.generateKeyPairSync("ecdsa", { bits });
      assertEquals(await typeOf(text), `ecdsa-sha2-nistp${bits}`);
    }
  }
  const options = { cipher: "aes256-ctr", passphrase: PASSPHRASE, rounds: 1 };
  const { private: text } = makeKeyPair(options);
  assertEquals(await typeOf(text, PASSPHRASE), "ssh-ed25519");
});

Deno.test("loadKey() takes PEM keys, encrypted or not", async () => {
  const pem = (type: "pkcs1" | "sec1" | "pkcs8", passphrase?: string) => ({
    type,
    format: "pem" as const,
    ...passphrase === undefined ? {} : { cipher: "aes-256-cbc", passphrase },
  });
  const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 }).privateKey;
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey;
  const ed = generateKeyPairSync("ed25519").privateKey;
  assertEquals(await typeOf(`${rsa.export(pem("pkcs1"))}`), "ssh-rsa");
  assertEquals(await typeOf(`${rsa.export(pem("pkcs8"))}`), "ssh-rsa");
  assertEquals(await typeOf(`${rsa.export(pem("pkcs8", PASSPHRASE))}`, PASSPHRASE), "ssh-rsa");
  assertEquals(await typeOf(`${ec.export(pem("sec1"))}`), "ecdsa-sha2-nistp256");
  assertEquals(await typeOf(`${ec.export(pem("pkcs8"))}`), "ecdsa-sha2-nistp256");
  assertEquals(await typeOf(`${ed.export(pem("pkcs8"))}`), "ssh-ed25519");
  assertEquals(await typeOf(`${ed.export(pem("pkcs8", PASSPHRASE))}`, PASSPHRASE), "ssh-ed25519");
});

Deno.test("loadKey() says what is wrong with a key", async () => {
  const options = { cipher: "aes256-ctr", passphrase: PASSPHRASE, rounds: 1 };
  const own = makeKeyPair(options);
  const pem = String(
    generateKeyPairSync("ed25519").privateKey.export({
      ...{ type: "pkcs8", format: "pem", cipher: "aes-256-cbc", passphrase: PASSPHRASE },
    }),
  );
  const refused = async (words: string, text: string, passphrase?: string) =>
    assertStringIncludes(await refusalOf(loadKey(text, passphrase, "the key")), words);
  for (const text of [own.private, pem]) {
    await refused("the key is encrypted and needs a passphrase", text);
    await refused("wrong passphrase for the key", text, "another");
  }
  await refused("the key is a public key", own.public);
  await refused("the key is not a private key that is supported: ", "no key");
  await refused(
    "the key is in the format of PuTTY",
    "PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n",
  );
  await refused(
    "the key is not a private key that is supported: ",
    "-----BEGIN PRIVATE KEY-----\nx\n-----END PRIVATE KEY-----",
  );
  const curve = generateKeyPairSync("ec", { namedCurve: "secp256k1" }).privateKey;
  await refused(
    "the key is not a private key that is supported: ",
    String(curve.export({ type: "pkcs8", format: "pem" })),
  );
  const dsa = generateKeyPairSync("x25519").privateKey.export({ type: "pkcs8", format: "pem" });
  await refused("the key is not a private key that is supported: ", `${dsa}`);
});

const VALUES: readonly string[] = [
  "plain",
  "it's",
  '$HOME `id` $(id) \\ "',
  "two\nlines\n\n",
  "\\n is no newline\n",
  "",
  "ü €",
];

/** Runs a script as a server does, with what it reads first. */
async function run(command: Partial<RemoteCommand>, stdin = ""): Promise<string> {
  const { text, preamble } = scriptOf({ cmd: "", pty: false, ...command });
  const child = new Deno.Command("sh", {
    args: ["-c", text],
    env: { HOME: "/tmp", TAKEN: "away" },
    stdin: "piped",
    stdout: "piped",
  }).spawn();
  const writer = child.stdin.getWriter();
  await writer.write(new TextEncoder().encode(preamble + stdin));
  await writer.close();
  return new TextDecoder().decode((await child.output()).stdout);
}

Deno.test({
  name: "scriptOf() sets variables to exactly their values, and leaves the input to the command",
  ignore: Deno.build.os === "windows",
  async fn() {
    for (const pty of [false, true]) {
      for (const value of VALUES) {
        const said = await run(
          { cmd: 'printf %s "$A"; cat', env: { A: value }, pty },
          "input",
        );
        assertEquals(said, `${value}input`);
      }
    }
    const env = { TAKEN: null, B: "b" };
    assertEquals(await run({ cmd: "echo ${TAKEN-gone} $B $RUNNER_ENV", env }), "gone b\n");
  },
});

Deno.test({
  name: "scriptOf() enters the directory, in which nothing but ~ has a meaning",
  ignore: Deno.build.os === "windows",
  async fn() {
    assertEquals(await run({ cmd: "pwd", workdir: "~" }), "/tmp\n");
    assertEquals(await run({ cmd: "pwd", workdir: "~/../usr" }), "/usr\n");
    assertEquals(await run({ cmd: "pwd\necho x", workdir: "/nonexistent" }), "");
    assertEquals(await run({ cmd: "pwd", workdir: "$HOME" }), "");
  },
});

Deno.test("scriptOf() shows no values in the text, which others on the server see", () => {
  const command = { cmd: "true", env: { TOKEN: "secret" }, pty: false };
  const { text, preamble } = scriptOf(command);
  assertEquals([text.includes("secret"), preamble.includes("secret")], [false, true]);
});

const attemptOf = (context: TestContext) =>
  new ActionAttempt(context, { product: "ssh", host: "127.0.0.1", port: 22 });

/** The error that the library throws when a server refuses another session. */
const refusal = () => Object.assign(new Error("open failed"), { reason: 2 });

Deno.test("a server that still counts a command that is over is asked again", async () => {
  await using context = actionContext();
  const slots = new Slots(10);
  let asked = 0;
  const opened = await slots.open(() => {
    asked++;
    return asked < 3 ? Promise.reject(refusal()) : Promise.resolve("open");
  }, attemptOf(context));
  assertEquals([opened, asked], ["open", 3]);
});

Deno.test("a server that allows no sessions is not asked forever, and other errors are not repeated", async () => {
  await using context = actionContext();
  const slots = new Slots(10);
  let asked = 0;
  const open = (error: Error) => () => {
    asked++;
    return Promise.reject(error);
  };
  await assertRejects(() => slots.open(open(refusal()), attemptOf(context)), Error, "open failed");
  assertEquals(asked, 11);
  await assertRejects(() => slots.open(open(new Error("lost")), attemptOf(context)), Error, "lost");
  assertEquals(asked, 12);
});

Deno.test("no more work at once than there are slots", async () => {
  await using context = actionContext();
  const slots = new Slots(2);
  let working = 0;
  let most = 0;
  await Promise.all(Array.from({ length: 6 }, async () => {
    await slots.open(() => {
      most = Math.max(most, ++working);
      return Promise.resolve();
    }, attemptOf(context));
    await Promise.resolve();
    working--;
    slots.release();
  }));
  assertEquals(most, 2);
  assertEquals(context.turns.paused, context.turns.resumed);
});
