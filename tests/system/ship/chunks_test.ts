/**
 * What binaries embed is minified: it may behave in another way than the modules.
 *
 * @module
 */
import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { ACTIONS } from "../../../src/actions/registry.ts";
import { assertHidden } from "../../support/assert_hidden.ts";
import { echoServer } from "../../support/servers/echo_sockets.ts";
import { nameServer } from "../../support/servers/name_server.ts";
import { programEnv } from "../../support/run/run_cli.ts";
import { readDirectory, REPORT_FILES } from "../../support/run/run_reports.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { tlsPath } from "../../support/servers/tls_fixture.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { mariadbServer, postgresServer } from "../servers/database_servers.ts";
import { grpcServer } from "../servers/grpc_server.ts";
import { aiosmtpdServer, dovecotServer } from "../servers/mail_servers.ts";
import { kafkaServer } from "../servers/kafka_server.ts";
import { mqttServer } from "../servers/mqtt_server.ts";
import { natsServer } from "../servers/nats_server.ts";
import { rabbitServer } from "../servers/rabbit_server.ts";
import { redisServer } from "../servers/redis_server.ts";
import { sshServer } from "../servers/ssh_server.ts";

const CHECKOUT = fromFileUrl(new URL("../../../", import.meta.url));
/** The password of all servers. */
const PASSWORD = "open-sesame-42";

const FLOW = `
name: Every action
vars:
  password: "{{PASSWORD}}"
  ca: ${tlsPath("authority.pem")}
jobs:
  - name: Without servers
    steps:
      - { uses: hello, with: { a: 1 }, test: res.a == 1 }
      - { uses: assert, test: status == 0 }
      - { uses: echo, with: { message: hi }, test: res.message == "hi" }
      - { uses: shell, with: { cmd: "echo $A", env: { A: b } }, test: res.stdout == "b\\n" }
      - { uses: embedded, with: { path: job.yml }, test: status == 0 }
      - { uses: mail-latency, with: { mail_dir: mails, output_dir: out }, test: res.latency.max == 10 }
  - name: Databases
    steps:
      - uses: db
        with: { dsn: ":memory:", query: "SELECT :a AS a", params: { a: 1 } }
        test: res.rows[0].a == 1
      - uses: db
        with: { dsn: "postgres://app:{{vars.password}}@127.0.0.1:{pg}/postgres?sslmode=require", query: "SELECT 1 AS a, ARRAY[1.5] AS b" }
        test: res.rows == [{"a":1,"b":["1.5"]}]
      - uses: db
        with: { dsn: "postgres://app:{{vars.password}}@127.0.0.1:{pg}/postgres", query: SELEC }
        test: res.error_code == "42601"
      - uses: db
        with: { dsn: "mysql://app:{{vars.password}}@127.0.0.1:{maria}/test?sslmode=require", query: "SELECT ? AS a", params: [x] }
        test: res.rows[0].a == "x"
      - uses: db
        with: { dsn: "mysql://app:{{vars.password}}@127.0.0.1:{maria}/test", query: SELEC }
        test: res.error_code == "ER_PARSE_ERROR"
      - uses: redis
        with: { url: "redis://:{{vars.password}}@127.0.0.1:{redis}", commands: [SET a b, GET a, LPUSH a x] }
        test: res.replies == ["OK", "b"] && res.error_code == "WRONGTYPE"
  - name: Messages
    steps:
      - { id: hooks, uses: listen, test: res.port > 0 }
      - { uses: receive, with: { from: hooks, none: 10ms } }
      - uses: kafka
        with: { brokers: "{kafka}", publish: orders, body: a }
        test: res.offset == 0
      - uses: amqp
        with: { url: "amqp://ann:{{vars.password}}@127.0.0.1:{rabbit}", declare: orders }
        test: res.created
      - uses: mqtt
        with: { url: "mqtt://ann:{{vars.password}}@127.0.0.1:{mqtt}", publish: orders/1, body: a, qos: 1 }
        test: res.confirmed
      - uses: mqtt
        with: { url: "ws://ann:{{vars.password}}@127.0.0.1:{mqttWeb}", publish: orders/1, body: a, qos: 2 }
        test: res.confirmed
      - { uses: nats, with: { url: "nats://ann:{{vars.password}}@127.0.0.1:{nats}", publish: a, body: a } }
  - name: Hosts
    steps:
      - uses: ssh
        with:
          host: 127.0.0.1
          port: {ssh}
          user: "{user}"
          key_file: "{key}"
          key_passphrase: pass phrase
          known_hosts: "{knownHost}"
          cmd: cat
          stdin: in
          upload: { flow.yml: copy.yml }
        test: res.stdout == "in" && res.files[0].size > 0
      - uses: smtp
        with:
          addr: 127.0.0.1:{smtp}
          from: Shop <shop@example.com>
          to: ann@example.com
          subject: Wörter
          body: the code is 1234
          auth: { username: ann, password: "{{vars.password}}" }
          starttls: true
          tls: { ca: "{{vars.ca}}" }
        test: res.sent == 1
      - uses: imap
        with:
          host: 127.0.0.1
          port: {imap}
          username: ann
          password: "{{vars.password}}"
          tls: { ca: "{{vars.ca}}" }
          wait_for: { subject: Wörter, since: 1 minute ago, timeout: 20s }
        test: capture(res.mails[0].text, "is (\\\\d+)")[1] == "1234"
      - uses: grpc
        with: { addr: "127.0.0.1:{grpc}", service: Shop, method: GetItem, body: { id: "7" } }
        test: res.body.serial == "9007199254740993"
      - uses: grpc
        with: { addr: "127.0.0.1:{grpc}", service: Shop, method: GetItem, body: { id: missing }, proto: "{proto}", import_paths: "{imports}" }
        test: res.status_code == "NOT_FOUND"
      - uses: dns
        with: { name: shop.test, server: "{dns}" }
        test: res.records[0].value == "192.0.2.1"
      - uses: tls
        with: { host: 127.0.0.1, port: {imap}, tls: { ca: "{{vars.ca}}" } }
        test: res.valid && res.protocols == ["TLSv1.2", "TLSv1.3"]
      - uses: tcp
        with: { host: 127.0.0.1, port: {smtp}, send: ["", "QUIT\\r\\n"], expect: ["220 ", "221 "] }
  - name: Web
    steps:
      - uses: http
        with: { get: "{url}/page" }
        test: css(res.body, "h1")[0] == "Hello"
      - uses: sse
        with: { url: "{url}/events", until: message.data.n == 2 }
        test: len(res.events) == 2
      - { uses: websocket, with: { url: "{socket}", send: { a: 1 }, expect: { a: 1 } } }
      - name: selectors of all kinds
        uses: browser
        with:
          actions:
            - { name: navigate, url: "{url}/page" }
            - { name: text, selector: h1, id: css }
            - { name: text, selector: //h1, id: xpath }
            - { name: click, selector: text=Hello }
            - { name: fill, selector: "#in", value: "{{vars.password}}" }
            - { name: value, selector: "#in" }
            - { name: capture_screenshot }
        test: res.results.css == "Hello" && res.results.xpath == "Hello" && res.results.value == vars.password
      - name: nothing has this text
        uses: browser
        with: { timeout: 1s, actions: [{ name: click, selector: text=Nothing }] }
`;

const MAIL = `Return-Path: <a@example.com>
Received: from b by c; Tue, 24 Nov 2026 10:00:10 +0000
Date: Tue, 24 Nov 2026 10:00:00 +0000

hi
`;

function answer(request: Request): Response {
  if (new URL(request.url).pathname === "/events") {
    const body = 'data: {"n":1}\n\ndata: {"n":2}\n\n';
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  }
  const page = '<!doctype html><title>t</title><h1>Hello</h1><input id="in">';
  return new Response(page, { headers: { "content-type": "text/html" } });
}

Deno.test("every action works from the chunks alone, and no report has the password", async () => {
  await withFiles({
    "mails/one": MAIL,
    "job.yml": "name: j\nsteps: [{ uses: hello, test: status == 0 }]\n",
  }, async (cwd) => {
    const built = await deno(["run", "-A", `${CHECKOUT}scripts/bundle.ts`, `${cwd}/dist`], cwd);
    assertEquals(built.code, 0, built.stderr);
    await using pg = await postgresServer(PASSWORD, true);
    await using maria = await mariadbServer(PASSWORD, true);
    await using redis = await redisServer(cwd);
    await using kafka = await kafkaServer();
    await using rabbit = await rabbitServer(cwd);
    await using mqtt = await mqttServer(cwd);
    await using nats = await natsServer(cwd);
    await using ssh = await sshServer();
    await using mailbox = await dovecotServer(PASSWORD);
    await using mails = await aiosmtpdServer(PASSWORD, `${mailbox.mails}/ann`);
    await using grpc = await grpcServer();
    await using names = await nameServer({ "A shop.test": [{ type: "A", data: "192.0.2.1" }] });
    await using web = withServer(answer);
    await using socket = echoServer();
    const places: Record<string, string | number> = {
      ...{ pg: pg.port, maria: maria.port, redis: redis.port, ssh: ssh.port, user: ssh.user },
      ...{ kafka: kafka.brokers, rabbit: rabbit.port, nats: nats.port },
      ...{ mqtt: mqtt.port, mqttWeb: mqtt.webPort },
      ...{ key: `${ssh.home}/ecdsa_pem_encrypted`, knownHost: ssh.knownHost.trim() },
      ...{ smtp: mails.port, imap: mailbox.tlsPort, grpc: grpc.plain, dns: names.server },
      ...{ proto: `${CHECKOUT}tests/fixtures/grpc/shop.proto` },
      ...{ imports: `${CHECKOUT}tests/fixtures/grpc`, url: web.url, socket: socket.url },
    };
    const flow = FLOW.replace(/(?<!\{)\{(\w+)\}(?!\})/g, (text, name) => `${places[name] ?? text}`);
    for (const { name } of ACTIONS) assertStringIncludes(flow, `uses: ${name}`);
    await Deno.writeTextFile(`${cwd}/flow.yml`, flow);
    const program = ["-A", "--no-config", "--no-npm", "--no-remote", `${cwd}/dist/split/cli.js`];
    const { code, stdout, stderr } = await deno(
      ["run", ...program, "-v", "--report-dir", "reports", "flow.yml"],
      cwd,
      { ...programEnv({ PASSWORD }), DENO_DIR: `${cwd}/cache` },
    );
    assertEquals(code, 1);
    assertStringIncludes(stdout, 'no element matches "text=Nothing"', stderr);
    const steps = flow.match(/uses: /g)!.length;
    assertStringIncludes(
      stdout,
      `\nSteps      ${steps - 1} passed · 1 failed (${steps})\n`,
      stderr,
    );
    const reports = readDirectory(`${cwd}/reports`);
    assert(REPORT_FILES.every((name) => name in reports));
    for (const [name, text] of Object.entries({ ...reports, stdout, stderr })) {
      assertHidden(PASSWORD, text, name);
      assertHidden("pass phrase", text, name);
    }
  });
});

async function deno(args: readonly string[], cwd: string, env: Record<string, string> = {}) {
  const options = { args: [...args], cwd, env: { NO_COLOR: "1", ...env } };
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), options).output();
  const decode = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  return { code, stdout: decode(stdout), stderr: decode(stderr) };
}
