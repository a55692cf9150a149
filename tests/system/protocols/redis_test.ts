import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { assertHidden } from "../../support/assert_hidden.ts";
import { readDirectory } from "../../support/run/run_reports.ts";
import { runCli, startCli } from "../../support/run/run_cli.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";
import { redisServer } from "../servers/redis_server.ts";
import { assertPassed } from "../../support/assert_passed.ts";

const TLS = tlsPath("");

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

const PASSWORDS = `
name: Redis
vars: { url: "{{REDIS_URL}}" }
jobs:
  - name: Passwords
    defaults: { redis: { url: "{{vars.url}}" } }
    steps:
      - uses: redis
        with:
          commands:
            - AUTH default open-sesame-42
            - [CONFIG, SET, masterauth, master-pass-1]
            - [ACL, SETUSER, ann, "on", ">ann-pass-2", "~*", +@all]
            - hello 3 auth ann ann-pass-2
            - HELLO 2
            - AUTH wrong-pass-3
        test: res.reply == "OK"
        echo: "{{req}} {{res}}"
`;

Deno.test("redis shows the passwords of commands nowhere", async () => {
  await withFiles({ "flow.yml": PASSWORDS }, async (cwd) => {
    await using server = await redisServer(cwd);
    const env = { REDIS_URL: `redis://:open-sesame-42@127.0.0.1:${server.port}` };
    const { stdout, stderr } = await runCli(["-v", "--report-dir", "out", "flow.yml"], {
      cwd,
      env,
    });
    assertStringIncludes(stdout, "WRONGPASS");
    for (const [name, text] of Object.entries({ ...readDirectory(`${cwd}/out`), stdout, stderr })) {
      for (const secret of ["open-sesame-42", "master-pass-1", "ann-pass-2", "wrong-pass-3"]) {
        assertHidden(secret, text, name);
      }
    }
  });
});

const VALUES = `
name: Redis
vars: { url: "{{REDIS_URL}}" }
jobs:
  - name: Values
    defaults: { redis: { url: "{{vars.url}}" } }
    steps:
      - name: integers are exact
        uses: redis
        with: { commands: [[SET, large, 9007199254740992], [INCR, large]] }
        test: res.reply == 9007199254740993
      - name: bytes
        uses: redis
        with: { commands: [[SETBIT, bits, 0, 1], [GET, bits]] }
        test: res.reply.base64 == "gA=="
      - name: names in small letters
        uses: redis
        with: { commands: [hset map a 1, hgetall map] }
        test: res.reply == ["a", "1"]
      - name: a transaction in which a command failed
        uses: redis
        with: { commands: [MULTI, SET text abc, INCR text, EXEC] }
        test: status == 1 && res.replies[3][0] == "OK" && res.error_code == "ERR"
      - name: a transaction that was not begun well
        uses: redis
        with: { commands: [MULTI, NONE, EXEC] }
        test: status == 1
      - name: does not stay open
        uses: redis
        with: { command: GET text }
        test: res.reply == "abc"
      - name: transactions do not mix
        uses: redis
        iteration: { list: [1, 2, 3, 4, 5, 6, 7, 8], parallel: 8 }
        with: { commands: [MULTI, INCR both, INCR both, EXEC] }
        test: res.reply[1] == res.reply[0] + 1
      - name: a user who may only read and write
        uses: redis
        with:
          commands: [[ACL, SETUSER, narrow, "on", ">narrow-pass", "~*", +get, +set]]
        test: res.reply == "OK"
      - uses: redis
        with:
          url: "{{replace(vars.url, ':open-sesame-42@', 'narrow:narrow-pass@')}}"
          command: GET text
        test: res.reply == "abc"
`;

Deno.test("redis reads values exactly, and keeps transactions apart", async () => {
  await withFiles({ "flow.yml": VALUES }, async (cwd) => {
    await using server = await redisServer(cwd);
    const env = { REDIS_URL: `redis://:open-sesame-42@127.0.0.1:${server.port}` };
    const { code, stdout, stderr } = await runCli(["flow.yml"], { cwd, env });
    assertEquals(code, 0, stdout + stderr);
  });
});

Deno.test("examples/network/redis.yml stores, counts and queues", async () => {
  const cwd = fromFileUrl(new URL("../../../examples/network/", import.meta.url));
  await withFiles({}, async (dir) => {
    await using server = await redisServer(dir);
    const env = { REDIS_URL: `redis://:open-sesame-42@127.0.0.1:${server.port}` };
    const { code, stdout, stderr } = await runCli(["redis.yml"], { cwd, env });
    assertEquals([code, stderr], [0, ""], stdout);
    assertPassed(stdout);
  });
});

Deno.test("redis fails where it would use another database, user or connection than is meant", async () => {
  await withFiles({}, async (cwd) => {
    await using server = await redisServer(cwd);
    const address = `127.0.0.1:${server.port}`;
    const cases: readonly (readonly [text: string, message: string])[] = [
      [`url: "redis://:open-sesame-42@${address}/99"`, "cannot select database 99 (ERR DB index"],
      [`url: "redis://:100%25%zz@${address}"`, "sign-in failed: WRONGPASS"],
      [`url: "redis://:100%zz@${address}"`, "sign-in failed: WRONGPASS"],
      [`url: "redis://${address}"`, "sign-in failed: NOAUTH"],
      [`tls: { verify: false }, url: "{{'redis://${address}'}}"`, 'redis:// takes no "tls"'],
      [`url: "redis://127.0.0.1:${server.tlsPort}"`, `at 127.0.0.1 port ${server.tlsPort}: `],
    ];
    const steps = cases.map(([text]) =>
      `      - { uses: redis, with: { command: PING, ${text} } }`
    );
    await Deno.writeTextFile(
      `${cwd}/flow.yml`,
      `name: Redis\njobs:\n  - name: Refused\n    steps:\n${steps.join("\n")}\n`,
    );
    const { stdout } = await runCli(["flow.yml"], { cwd });
    const parts = stdout.split(/^ {1,3}\d+\. /m).slice(1);
    for (const [index, [, message]] of cases.entries()) {
      assertStringIncludes(parts[index]!, message);
    }
  });
});

Deno.test("redis checks the certificate in each step that wants it", async () => {
  const client = `cert: ${TLS}good.pem, key: ${TLS}good_key.pem`;
  const step = (tls: string) => `
      - uses: redis
        with: { url: "{{vars.url}}", command: PING, tls: { ${tls}, ${client} } }`;
  const text = `name: Redis\nvars: { url: "{{REDIS_URL}}" }\njobs:\n  - name: TLS\n    steps:${
    step("verify: false")
  }${step(`ca: ${TLS}authority.pem`)}\n`;
  await withFiles({ "flow.yml": text }, async (cwd) => {
    await using server = await redisServer(cwd, "expired");
    const env = { REDIS_URL: `rediss://:open-sesame-42@127.0.0.1:${server.tlsPort}` };
    const { stdout } = await runCli(["flow.yml"], { cwd, env });
    assertStringIncludes(stdout, "(CERT_HAS_EXPIRED)");
    assertStringIncludes(stdout, "1 failed · 1 not tested (2)");
  });
});

/** A workflow whose steps are given, of one job. */
const flow = (steps: string) => `
name: Redis
vars: { url: "{{REDIS_URL}}" }
jobs:
  - name: Server
    defaults: { redis: { url: "{{vars.url}}" } }
    steps:${steps}`;

Deno.test("redis carries 10 MB, 100 steps in a row and 20 at once, and ends what takes too long", async () => {
  const numbers = (count: number) => `[${Array.from({ length: count }, (_, n) => n).join(", ")}]`;
  const load = flow(`
      - uses: redis
        with: { commands: [[SET, large, x], [SETRANGE, large, 9999999, y], [GET, large]] }
        test: len(res.replies[2]) == 10000000
      - uses: redis
        iteration: ${numbers(100)}
        with: { command: "INCR rows" }
        test: res.reply == vars.item + 1
      - uses: redis
        iteration: { list: ${numbers(20)}, parallel: 20 }
        with: { command: "ECHO {{vars.item}}" }
        test: res.reply == string(vars.item)
      - uses: redis
        with: { command: BLPOP nothing 0, timeout: 500ms }
      - uses: redis
        with: { command: INFO clients }
        test: res.reply contains "blocked_clients:0\\r\\n"`);
  const wait = flow(`
      - uses: redis
        with: { command: BLPOP nothing 0 }`);
  const none = flow(`
      - uses: redis
        with: { command: INFO clients }
        test: res.reply contains "blocked_clients:\${N}\\r\\n"`);
  const files = {
    "load.yml": load,
    "wait.yml": wait,
    "one.yml": none.replace("${N}", "1"),
    "none.yml": none.replace("${N}", "0"),
  };
  await withFiles(files, async (cwd) => {
    await using server = await redisServer(cwd);
    const env = { REDIS_URL: `redis://:open-sesame-42@127.0.0.1:${server.port}/0` };
    const { stdout } = await runCli(["load.yml"], { cwd, env });
    assertStringIncludes(stdout, "timed out after 500ms while waiting for", stdout);
    assertStringIncludes(stdout, "122 passed · 1 failed (123)", stdout);
    const isTrue = async (file: string) => (await runCli([file], { cwd, env })).code === 0;
    const child = startCli(["wait.yml"], { cwd, env });
    const output = child.output();
    while (!await isTrue("one.yml"));
    child.kill("SIGINT");
    const { code, stdout: said } = await output;
    assertEquals(code, 1);
    assertStringIncludes(new TextDecoder().decode(said), "interrupted by SIGINT");
    assertEquals(await isTrue("none.yml"), true);
  });
});

Deno.test("redis speaks TLS, presents a client certificate, and explains that of the server", async () => {
  const client = `cert: ${TLS}good.pem, key: ${TLS}good_key.pem`;
  const step = (tls: string) => `
      - uses: redis
        with: { command: PING, fresh: true, tls: { ${tls} } }
        test: res.reply == "PONG"`;
  const ca = `ca: ${TLS}authority.pem`;
  const steps = flow(`${step(`${ca}, ${client}`)}${step(ca)}${step(client)}`);
  await withFiles({ "flow.yml": steps }, async (cwd) => {
    const run = async (certificate: string) => {
      await using server = await redisServer(cwd, certificate);
      const env = { REDIS_URL: `rediss://:open-sesame-42@127.0.0.1:${server.tlsPort}` };
      const { stdout } = await runCli(["flow.yml"], { cwd, env });
      return stdout.split(/^ {1,3}\d+\. /m).slice(1);
    };
    const [good = "", without = "", unknown = ""] = await run("good");
    assertStringIncludes(good, "✓ redis");
    assertStringIncludes(without, 'give one: "tls: { cert: ');
    assertStringIncludes(unknown, "is signed by an unknown certificate authority");
    assertStringIncludes((await run("expired"))[0]!, "(CERT_HAS_EXPIRED)");
  });
});

Deno.test("no action waits for a server that refuses its missing certificate after the handshake", async () => {
  const tls = `tls: { ca: ${TLS}authority.pem }`;
  await withFiles({}, async (cwd) => {
    await using server = await redisServer(cwd);
    const address = `127.0.0.1:${server.tlsPort}`;
    const steps = [
      `websocket, with: { url: "wss://${address}/", ${tls} }`,
      `smtp, with: { addr: "${address}", from: a@example.com, to: b@example.com, ${tls} }`,
      `imap, with: { host: 127.0.0.1, port: ${server.tlsPort}, username: ann, password: words, commands: [{ name: noop }], ${tls} }`,
      `sse, with: { url: "https://${address}/", ${tls} }`,
      `redis, with: { url: "rediss://${address}", command: PING, ${tls} }`,
      `tcp, with: { host: 127.0.0.1, port: ${server.tlsPort}, expect: x, ${tls} }`,
    ];
    const all = Array.from({ length: 6 }, () => steps).flat();
    const text = `name: n\njobs:\n- name: j\n  steps:\n${
      all.map((step) => `  - { timeout: 30s, uses: ${step} }`).join("\n")
    }\n`;
    await Deno.writeTextFile(`${cwd}/flow.yml`, text);
    const { stdout } = await runCli(["flow.yml"], { cwd });
    assertStringIncludes(stdout, `\nSteps      ${all.length} failed (${all.length})\n`, stdout);
    assertEquals(stdout.includes("timed out"), false, stdout);
    assertStringIncludes(stdout, "wants a client certificate");
  });
});
