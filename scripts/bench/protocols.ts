import { mariadbServer, postgresServer } from "../../tests/system/servers/database_servers.ts";
import { aiosmtpdServer, dovecotServer } from "../../tests/system/servers/mail_servers.ts";
import { redisServer } from "../../tests/system/servers/redis_server.ts";
import { KEYS, sshServer } from "../../tests/system/servers/ssh_server.ts";

const ROOT = new URL("../../", import.meta.url);
const PASSWORD = "open-sesame-42";

/** Steps of one protocol: how many, their `with`, and the same with the library alone. */
export interface Protocol {
  readonly name: string;
  readonly count: number;
  readonly action: string;
  readonly params: string;
  /** A module that does `count` of them, which is in `Deno.args[0]`. */
  readonly bare: string;
}

/** What is measured, while its servers run. */
export async function* protocols(directory: string): AsyncGenerator<Protocol> {
  await using postgres = await postgresServer(PASSWORD);
  await using maria = await mariadbServer(PASSWORD);
  await using redis = await redisServer(directory);
  await using smtp = await aiosmtpdServer(PASSWORD);
  await using imap = await dovecotServer(PASSWORD);
  await using ssh = await sshServer();
  const dsn = `postgres://app:${PASSWORD}@127.0.0.1:${postgres.port}/postgres`;
  const mysql = `mysql://app:${PASSWORD}@127.0.0.1:${maria.port}/test`;
  const url = `redis://:${PASSWORD}@127.0.0.1:${redis.port}`;
  const key = `${ssh.home}/${Object.keys(KEYS)[0]}`;
  yield* [
    {
      name: "PostgreSQL",
      count: 5000,
      action: "db",
      params: `{ dsn: "${dsn}", query: "SELECT $1::int AS n", params: [7] }`,
      bare: `import pg from "pg";
        const client = new pg.Client({ connectionString: "${dsn}", ssl: false });
        await client.connect();
        for (let n = Number(Deno.args[0]); n > 0; n--) await client.query("SELECT $1::int AS n", [7]);
        await client.end();`,
    },
    {
      name: "SQLite, against the same worker",
      count: 5000,
      action: "db",
      params: `{ dsn: ":memory:", query: "SELECT ? AS n", params: [7] }`,
      bare: `import { sqliteMain } from "${new URL("src/actions/db/sqlite_worker.ts", ROOT)}";
        import { Worker } from "node:worker_threads";
        const code = "(" + sqliteMain + ")(require('node:worker_threads').parentPort, require)";
        const worker = new Worker(code, { eval: true });
        const order = (order) => new Promise((done) => {
          worker.once("message", done);
          worker.postMessage(order);
        });
        await order({ type: "open", path: ":memory:", mayAttach: true });
        for (let n = Number(Deno.args[0]); n > 0; n--) {
          await order({ type: "run", pieces: ["SELECT ? AS n"], values: [7n], maxRows: 10000 });
        }
        await worker.terminate();`,
    },
    {
      name: "ssh",
      count: 200,
      action: "ssh",
      params: `{ host: 127.0.0.1, port: ${ssh.port}, user: ${ssh.user}, key_file: ${key}, ` +
        `known_hosts: "${ssh.knownHost.trim()}", cmd: "true" }`,
      bare: `import ssh2 from "ssh2";
        const client = new ssh2.Client();
        client.on("connect", () => client.setNoDelay(true));
        await new Promise((ready) => client.on("ready", ready).connect({
          host: "127.0.0.1", port: ${ssh.port}, username: "${ssh.user}",
          privateKey: Deno.readTextFileSync("${key}"), authHandler: ["publickey"],
        }));
        for (let n = Number(Deno.args[0]); n > 0; n--) {
          await new Promise((done) => client.exec("true", (_, channel) => {
            channel.resume().on("close", done);
            channel.stderr.resume();
            channel.end();
          }));
        }
        client.end();`,
    },
    {
      name: "MariaDB",
      count: 5000,
      action: "db",
      params: `{ dsn: "${mysql}", query: "SELECT ? AS n", params: [7] }`,
      bare: `import mysql from "mysql2";
        const client = mysql.createConnection({ uri: "${mysql}" });
        for (let n = Number(Deno.args[0]); n > 0; n--) {
          await new Promise((done) => client.execute("SELECT ? AS n", ["7"], done));
        }
        client.destroy();`,
    },
    {
      name: "Redis",
      count: 5000,
      action: "redis",
      params: `{ url: "${url}", command: [ECHO, "7"] }`,
      bare: `import { Redis } from "ioredis";
        const client = new Redis("${url}");
        for (let n = Number(Deno.args[0]); n > 0; n--) await client.call("ECHO", "7");
        client.disconnect();`,
    },
    {
      name: "smtp",
      count: 500,
      action: "smtp",
      params:
        `{ addr: "127.0.0.1:${smtp.port}", from: a@example.com, to: b@example.com, starttls: false }`,
      bare: `import SMTPConnection from "nodemailer/lib/smtp-connection";
        import MailComposer from "nodemailer/lib/mail-composer";
        const client = new SMTPConnection({ port: ${smtp.port}, host: "127.0.0.1", ignoreTLS: true });
        await new Promise((done) => client.connect(done));
        for (let n = Number(Deno.args[0]); n > 0; n--) {
          const mail = await new MailComposer({
            from: "a@example.com", to: "b@example.com", text: "This is a test mail.",
          }).compile().build();
          const envelope = { from: "a@example.com", to: ["b@example.com"] };
          await new Promise((done) => client.send(envelope, mail, done));
        }
        client.quit();`,
    },
    {
      name: "imap",
      count: 2000,
      action: "imap",
      params: `{ host: 127.0.0.1, port: ${imap.port}, tls: false, username: ann, ` +
        `password: ${PASSWORD}, commands: [{ name: noop }] }`,
      bare: `import { ImapFlow } from "imapflow";
        const client = new ImapFlow({
          host: "127.0.0.1", port: ${imap.port}, secure: false, doSTARTTLS: false, logger: false,
          auth: { user: "ann", pass: "${PASSWORD}" },
        });
        await client.connect();
        for (let n = Number(Deno.args[0]); n > 0; n--) await client.noop();
        await client.logout();`,
    },
  ];
}
