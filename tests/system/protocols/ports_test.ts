import { assertEquals } from "@std/assert";
import { theProgram } from "../../support/run/run_cli.ts";
import { withFiles } from "../../support/temp_dir.ts";

/** Allows a network of its own, of a few ports, without a change of the machine. */
const inNamespace = async (script: string, cwd: string) =>
  await new Deno.Command("unshare", { args: ["-rn", "sh", "-c", script], cwd }).output();

const canUnshare = Deno.build.os === "linux" && (await inNamespace("true", "/")).success;

const PREPARE = `ip link set lo up && echo "40000 40004" > /proc/sys/net/ipv4/ip_local_port_range`;

/** Uses up all ports to a server, and then runs a program. */
const EXHAUST = `
  const address = { hostname: "127.0.0.1", port: 8099 };
  const listener = Deno.listen(address);
  (async () => { for await (const _ of listener); })();
  try { while (true) await Deno.connect(address); } catch {}
  const [program, ...args] = Deno.args;
  await new Deno.Command(program, { args }).spawn().status;
  Deno.exit(0);
`;

const STEPS = {
  http: "get: 'http://127.0.0.1:8099/'",
  websocket: "url: 'ws://127.0.0.1:8099/'",
  tcp: "host: 127.0.0.1, port: 8099",
  redis: "url: 'redis://127.0.0.1:8099', command: [PING]",
  db: "dsn: 'postgres://u:p@127.0.0.1:8099/x', query: select 1",
};

Deno.test({
  name: "ports that are used up: each action says so",
  ignore: !canUnshare,
  async fn() {
    const jobs = Object.entries(STEPS).map(([uses, params]) =>
      `  - {name: ${uses}, steps: [{uses: ${uses}, with: {${params}}}]}\n`
    );
    const files = {
      "exhaust.js": EXHAUST,
      "w.yml": `name: Ports\njobs:\n${jobs.join("")}`,
    };
    await withFiles(files, async (cwd) => {
      const [program, args] = theProgram();
      const words = [program, ...args, "w.yml", "--report", "json=out.json"];
      const quoted = words.map((word) => `'${word}'`).join(" ");
      const script = `${PREPARE} && '${Deno.execPath()}' run -A exhaust.js ${quoted}`;
      const { stdout, stderr } = await inNamespace(script, cwd);
      const text = new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
      const report = JSON.parse(
        await Deno.readTextFile(`${cwd}/out.json`).catch(() => {
          throw new Error(text);
        }),
      );
      const said = JSON.stringify(report).match(/from here \(EADDRNOTAVAIL\)/g)?.length ?? 0;
      assertEquals(said >= Object.keys(STEPS).length, true, text);
    });
  },
});
