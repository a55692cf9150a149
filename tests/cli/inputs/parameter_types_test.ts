import { assertEquals } from "@std/assert";
import { ACTIONS } from "../../../src/action/registry.ts";
import { assertNoTrace } from "../../support/assert_no_trace.ts";
import { withRig } from "../../support/rig.ts";
import { runMain } from "../../support/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

/** Values of every type, and texts that are hard on programs, as YAML. */
const VALUES = [
  "null",
  "-1.5",
  "1e300",
  "true",
  ...['""', '"  "', '"text"', '"\\r\\nX: y"', '"\\u0000"', '"\\ud800"', '"☃"', '"http://[bad"'],
  ...["[]", "[1]", "{}", "{a: 1}", "{a: null}", "{a: [1, {b: 2}]}"],
  ...['{"": 1}', '{"a b": 1}', '{"x\\ny": z}', '{"A=B": x}', '{A: "a\\u0000b"}', '{a: "☃"}'],
  ...["{content-length: 5}", "{transfer-encoding: chunked}", "{connection: upgrade}", "{host: x}"],
];

/** What an action needs besides the parameter that is tried. */
function others(action: string, parameter: string, url: string): string {
  const isTarget = /^(url|get|post|put|patch|delete|head|options)$/.test(parameter);
  if (action === "http" && parameter === "url") return "method: GET, ";
  if (action === "http" && parameter === "method") return `url: "${url}", `;
  if (action === "http" && parameter === "compress") return `post: "${url}", body: text, `;
  if (action === "http" && !isTarget) return `get: "${url}", `;
  if (action === "embedded") return "path: job.yml, ";
  if (action === "shell" && parameter !== "cmd") return 'cmd: "true", ';
  if (action in PLACES) return placeFor(action, parameter, url);
  return "";
}

/** Where an action that speaks no HTTP connects to: the server of the test, which does. */
const PLACES: Readonly<Record<string, Readonly<Record<string, (url: URL) => string | number>>>> = {
  tcp: { host: () => "127.0.0.1", port: ({ port }) => Number(port) },
  tls: { host: () => "127.0.0.1", port: ({ port }) => Number(port) },
  dns: { name: () => "localhost", server: ({ host }) => host },
  redis: { url: ({ host }) => `redis://${host}`, command: () => "PING" },
  db: { dsn: ({ host }) => `postgres://u:p@${host}/d`, query: () => "select 1" },
};

/** The parameters that other parameters can replace. */
const INSTEAD: Readonly<Record<string, readonly string[]>> = {
  command: ["command", "commands"],
  query: ["query", "file", "transaction"],
};

function placeFor(action: string, parameter: string, url: string): string {
  return Object.entries(PLACES[action]!)
    .filter(([name]) => !(INSTEAD[name] ?? [name]).includes(parameter))
    .map(([name, value]) => `${name}: ${JSON.stringify(value(new URL(url)))}, `).join("");
}

const VARS = VALUES.map((value, index) => `  v${index}: ${value}\n`).join("");
const JOB = "name: job\nsteps:\n  - uses: hello\n";

Deno.test("a parameter that turns out to be of any type does its work or fails its step", async () => {
  const actions = await Promise.all(ACTIONS.map(({ load }) => load()));
  await withRig(async ({ url }) => {
    const jobs = actions.flatMap(({ name, parameters = [] }) =>
      // Where a job file is has to be known before the run.
      parameters.filter((parameter) => name !== "embedded" || parameter.name !== "path").map((
        parameter,
      ) => {
        const steps = VALUES.map((_, index) =>
          `  - {uses: ${name}, timeout: ${name in PLACES ? "200ms" : "30s"}, with: {${
            others(name, parameter.name, url)
          }` +
          `${parameter.name}: "{{ vars.v${index} }}"}}\n`
        );
        return { steps, text: `- name: ${name} ${parameter.name}\n  steps:\n${steps.join("")}` };
      })
    );
    const yaml = `name: n\nvars:\n${VARS}jobs:\n${jobs.map(({ text }) => text).join("")}`;
    const files = { "w.yml": yaml, "job.yml": JOB };
    const args = ["--jobs", "1", "w.yml"];
    const result = await withFiles(files, (cwd) => runMain(args, { cwd }));
    assertNoTrace(result);
    assertEquals([result.code, result.stderr], [1, ""]);
    const done = [...result.stdout.matchAll(/^ {1,3}\d+\. [✓✗○] /gm)].length;
    assertEquals(done, jobs.flatMap(({ steps }) => steps).length);
  });
});

Deno.test("a path of a job file that turns out to be of any type is refused before the run", async () => {
  const steps = VALUES.map((_, index) =>
    `  - {uses: embedded, with: {path: "{{ vars.v${index} }}"}}\n`
  );
  const yaml = `name: n\nvars:\n${VARS}jobs:\n- name: j\n  steps:\n${steps.join("")}`;
  const result = await withFiles({ "w.yml": yaml }, (cwd) => runMain(["w.yml"], { cwd }));
  assertNoTrace(result);
  assertEquals([result.code, result.stdout], [1, ""]);
  assertEquals(result.stderr.match(/^w\.yml:\d+:\d+: error: /gm)?.length, VALUES.length);
});
