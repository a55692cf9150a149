import { assert, assertEquals } from "@std/assert";
import type { Dict } from "../../src/action/action.ts";
import { ACTIONS } from "../../src/actions/registry.ts";
import { assertNoTrace } from "../support/assert_no_trace.ts";
import { withRig } from "../support/run/rig.ts";
import { runCli } from "../support/run/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";

const BY_NAME = new Map(
  await Promise.all(
    ACTIONS.map(async ({ name, load }) => [name, await load()] as const),
  ),
);

/** Values of every type, and texts that are hard on programs, as YAML. */
const VALUES = [
  '"{{ nil }}"',
  "-1.5",
  "1e+300",
  "true",
  ...['""', '"  "', '"text"', '"\\r\\nX: y"', '"\\u0000"', '"\\ud800"', '"☃"', '"http://[bad"'],
  ...["[]", "[1]", "{}", "{a: 1}", "{a: null}", "{a: [1, {b: 2}]}"],
  ...['{"": 1}', '{"a b": 1}', '{"x\\ny": z}', '{"A=B": x}', '{A: "a\\u0000b"}', '{a: "☃"}'],
  ...["{content-length: 5}", "{transfer-encoding: chunked}", "{connection: upgrade}", "{host: x}"],
];

/** Returns the parameters that an action needs besides the tested one. */
function others(action: string, parameter: string, url: string): string {
  const isTarget = /^(url|get|post|put|patch|delete|head|options)$/.test(parameter);
  if (action === "http" && parameter === "url") return "method: GET, ";
  if (action === "http" && parameter === "method") return `url: "${url}", `;
  if (action === "http" && parameter === "compress") return `post: "${url}", body: text, `;
  if (action === "http" && !isTarget) return `get: "${url}", `;
  if (action === "embedded") return "path: job.yml, ";
  const fields = BESIDE[action]?.[parameter] ?? "";
  if (action === "shell" && parameter !== "cmd") return `${fields}cmd: "true", `;
  if (action in BROKERS) return verbFor(action, parameter, url);
  if (action in PLACES) return fields + placeFor(action, parameter, url);
  return fields;
}

/** Where an action that speaks no HTTP connects to: the server of the test, which does. */
const PLACES: Readonly<Record<string, Readonly<Record<string, (url: URL) => unknown>>>> = {
  tcp: { host: () => "127.0.0.1", port: ({ port }) => Number(port) },
  tls: { host: () => "127.0.0.1", port: ({ port }) => Number(port) },
  dns: { name: () => "localhost", server: ({ host }) => host },
  websocket: { url: ({ host }) => `ws://${host}` },
  sse: { url: ({ href }) => href },
  redis: { url: ({ host }) => `redis://${host}`, command: () => "PING" },
  smtp: { addr: ({ host }) => host, from: () => "a@b.example", to: () => "c@d.example" },
  ssh: {
    host: () => "127.0.0.1",
    port: ({ port }) => Number(port),
    user: () => "u",
    password: () => "p",
    cmd: () => "true",
  },
  browser: { actions: () => [{ name: "wait_ready" }], executable: () => "/nowhere" },
  imap: {
    host: () => "127.0.0.1",
    port: ({ port }) => Number(port),
    username: () => "a",
    password: () => "b",
    commands: () => "{{[]}}",
  },
  grpc: { addr: ({ host }) => host, service: () => "a.B", method: () => "C" },
  "mail-latency": { mail_dir: () => "mails", output_dir: () => "." },
  receive: { from: () => "{{'x'}}" },
  db: { dsn: ({ host }) => `postgres://u:p@${host}/d`, query: () => "select 1" },
};

/** Parameters that other parameters of an action require. */
const BESIDE: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  grpc: {
    import_paths: "proto: none.proto, ",
    insecure: "tls: true, ",
    ca_file: "tls: true, ",
    cert_file: "tls: true, key_file: none.pem, ",
    key_file: "tls: true, cert_file: none.pem, ",
  },
  listen: { cert: "key: none.pem, ", key: "cert: none.pem, " },
  db: { listen: "background: true, " },
  shell: {
    ready: "background: true, ready_timeout: 10ms, ",
    ready_timeout: "background: true, ready: { log: x }, ",
  },
};

/** The parameters that other parameters can replace. */
const INSTEAD: Readonly<Record<string, readonly string[]>> = {
  command: ["command", "commands"],
  service: ["service", "health"],
  method: ["method", "health"],
  query: ["query", "file", "transaction", "listen"],
  url: ["url", "on"],
};

function placeFor(action: string, parameter: string, url: string): string {
  return Object.entries(PLACES[action]!)
    .filter(([name]) => !(INSTEAD[name] ?? [name]).includes(parameter))
    .map(([name, value]) => `${name}: ${JSON.stringify(value(new URL(url)))}, `).join("");
}

/** How steps name the server of a broker, without and with TLS. */
const BROKERS: Readonly<Record<string, (host: string) => readonly Dict[]>> = {
  amqp: (host) => [{ url: `amqp://${host}` }, { url: `amqps://${host}` }],
  kafka: (host) => [{ brokers: host }],
  mqtt: (host) => [{ url: `mqtt://${host}` }, { url: `mqtts://${host}` }],
  nats: (host) => [{ url: `nats://${host}` }, { url: `tls://${host}` }],
};

/** What steps of a broker may do; a parameter is tested with the first that it goes with. */
const VERBS: readonly Dict[] = [
  {},
  { body: "text" },
  { bucket: "b" },
  { bucket: "b", body: "text" },
  { publish: "x" },
  { publish: "x", body: "text" },
  { subscribe: "x" },
  { subscribe: "x", stream: "s" },
  { subscribe: "x", group: "g" },
  { declare: "x" },
  { declare: "x", exchange: "e" },
  { lag: "x", group: "g" },
  { put: "x", body: "text" },
  { group: "g" },
];

function verbFor(name: string, parameter: string, url: string): string {
  const { problems } = BY_NAME.get(name)!;
  const tested = { [parameter]: "{{ vars.v0 }}" };
  const places = BROKERS[name]!(new URL(url).host);
  const fitting = places.flatMap((place) => VERBS.map((verb) => ({ ...place, ...verb })))
    .find((params) => problems!({ ...params, ...tested }).length === 0);
  assert(fitting, `${name} ${parameter}`);
  const beside = Object.entries(fitting).filter(([name]) => name !== parameter);
  return beside.map(([name, value]) => `${name}: ${JSON.stringify(value)}, `).join("");
}

const VARS = VALUES.map((value, index) => `  v${index}: ${value}\n`).join("");
const JOB = "name: job\nsteps:\n  - uses: hello\n";

Deno.test("a parameter that turns out to be of any type does its work or fails its step", async () => {
  const actions = [...BY_NAME.values()];
  await withRig(async ({ url }) => {
    const jobs = actions.flatMap(({ name, parameters = [] }) =>
      // Where a job file is, and what an expression is, has to be known before the run.
      parameters.filter((parameter) =>
        (name !== "embedded" || parameter.name !== "path") && !parameter.expression
      ).map((parameter) => {
        const steps = VALUES.map((_, index) =>
          `  - {uses: ${name}, timeout: ${
            name in PLACES || name in BROKERS ? "200ms" : "30s"
          }, with: {${others(name, parameter.name, url)}` +
          `${parameter.name}: "{{ vars.v${index} }}"}}\n`
        );
        return { steps, text: `- name: ${name} ${parameter.name}\n  steps:\n${steps.join("")}` };
      })
    );
    const yaml = `name: n\nvars:\n${VARS}jobs:\n${jobs.map(({ text }) => text).join("")}`;
    const files = { "w.yml": yaml, "job.yml": JOB };
    await withFiles(files, async (cwd) => {
      // Several at once, since many wait until their time is over.
      const args = ["--jobs", "8", "--report", "json=r.json", "w.yml"];
      const result = await runCli(args, { cwd });
      assertNoTrace(result);
      assertEquals([result.code, result.stderr], [1, ""]);
      const report = JSON.parse(await Deno.readTextFile(`${cwd}/r.json`)) as {
        readonly jobs: readonly { readonly steps: readonly { readonly state: string }[] }[];
      };
      const states = report.jobs.flatMap(({ steps }) => steps.map(({ state }) => state));
      assertEquals(states.length, jobs.flatMap(({ steps }) => steps).length);
      assertEquals(states.filter((state) => !/^(passed|failed|untested)$/.test(state)), []);
    });
  });
});

Deno.test("a path of a job file that turns out to be of any type is refused before the run", async () => {
  const steps = VALUES.map((_, index) =>
    `  - {uses: embedded, with: {path: "{{ vars.v${index} }}"}}\n`
  );
  const yaml = `name: n\nvars:\n${VARS}jobs:\n- name: j\n  steps:\n${steps.join("")}`;
  const result = await withFiles({ "w.yml": yaml }, (cwd) => runCli(["w.yml"], { cwd }));
  assertNoTrace(result);
  assertEquals([result.code, result.stdout], [1, ""]);
  assertEquals(result.stderr.match(/^w\.yml:\d+:\d+: error: /gm)?.length, VALUES.length);
});
