import { postgresServer } from "../../tests/system/servers/database_servers.ts";
import { KEYS, sshServer } from "../../tests/system/servers/ssh_server.ts";
import type { Figure, Workbench } from "./bench.ts";

const ROOT = new URL("../../", import.meta.url);

/** Steps of one protocol: how many, their `with`, and the same with the library alone. */
interface Protocol {
  readonly name: string;
  readonly count: number;
  readonly action: string;
  readonly params: string;
  /** A module that does `count` of them, which is in `Deno.args[0]`. */
  readonly bare: string;
}

/** Steps per second of actions that keep connections, against their libraries alone. */
export async function* benchSteps(workbench: Workbench): AsyncGenerator<Figure> {
  await using postgres = await postgresServer("secret-word");
  await using ssh = await sshServer();
  const dsn = `postgres://app:secret-word@127.0.0.1:${postgres.port}/postgres`;
  const key = `${ssh.home}/${Object.keys(KEYS)[0]}`;
  const protocols: readonly Protocol[] = [
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
      bare: `import { sqliteMain } from "${new URL("src/action/db/sqlite_worker.ts", ROOT)}";
        import { Worker } from "node:worker_threads";
        const code = "(" + sqliteMain + ")(require('node:worker_threads').parentPort, require)";
        const worker = new Worker(code, { eval: true });
        const order = (order) => new Promise((done) => {
          worker.once("message", done);
          worker.postMessage(order);
        });
        await order({ type: "open", path: ":memory:", mayAttach: true });
        for (let n = Number(Deno.args[0]); n > 0; n--) {
          await order({ type: "run", pieces: ["SELECT ? AS n"], values: [7n], most: 10000 });
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
  ];
  for (const { name, count, action, params, bare } of protocols) {
    const seconds = async (many: number) => {
      const list = `[${Array.from({ length: many }, (_, n) => n).join(",")}]`;
      const step = `uses: ${action}, iteration: ${list}, with: ${params}, test: "res.code == 0"`;
      const flow = `name: n\njobs: [{ name: j, steps: [{ ${step} }] }]\n`;
      const path = await workbench.write("steps.yml", flow);
      return (await workbench.runner("-q", path)).seconds;
    };
    const alone = async (many: number) => {
      const path = await workbench.write("bare.js", bare);
      const config = new URL("deno.json", ROOT).pathname;
      return (await workbench.deno("run", "-A", "--config", config, path, `${many}`)).seconds;
    };
    // Without what starting takes.
    const ours = (count - 1) / (await seconds(count) - await seconds(1));
    const theirs = (count - 1) / (await alone(count) - await alone(1));
    yield { what: `steps per second: ${name}`, value: ours, unit: "per s" };
    yield {
      what: "relative to the library alone",
      value: ours / theirs,
      unit: "times",
      goal: { least: 0.7 },
    };
  }
}
