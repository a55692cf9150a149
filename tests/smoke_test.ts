/**
 * A round through the program as it is started by users: one test for each of its larger parts.
 * `deno task test` runs it on the sources; the builds run it too, by RUNNER_BIN, because bundlers
 * can leave out a module or change what one does.
 *
 * @module
 */
import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { openShop } from "../scripts/demo_server.ts";
import { until } from "./support/run/processes.ts";
import { type CliResult, runCli, startCli } from "./support/run/run_cli.ts";
import { withFiles } from "./support/temp_dir.ts";
import { assertPassed } from "./support/assert_passed.ts";

const SHOP = openShop();
/** The shop ends with the process of the tests, which all use it. */
Deno.test.afterAll(() => SHOP.close());

const job = (steps: string) => `name: Smoke\njobs:\n- name: j\n  steps:\n${steps}`;

/** Runs the program in a directory with these files, and lets `look` see what it has written. */
async function runner(
  args: readonly string[],
  files: Readonly<Record<string, string>>,
  look: (result: CliResult, read: (path: string) => string, cwd: string) => void | Promise<void>,
): Promise<void> {
  await withFiles(files, async (cwd) => {
    const env = { SHOP_URL: SHOP.url, A_TOKEN: "supersecret" };
    const result = await runCli(args, { cwd, env });
    await look(result, (path) => Deno.readTextFileSync(`${cwd}/${path}`), cwd);
  });
}

Deno.test("smoke: it prints its version, its help and pages of its documents", async () => {
  await runner(["--version"], {}, ({ code, stdout }) => {
    assertEquals(code, 0);
    assertMatch(stdout, /^Runner Version \d+\.\d+\.\d+ \(commit: \w+\)\n$/);
  });
  await runner(["--help"], {}, ({ stdout }) => assertStringIncludes(stdout, "Usage"));
  await runner(["help", "expressions"], {}, ({ code, stdout }) => {
    assertEquals(code, 0);
    assertStringIncludes(stdout, "??");
  });
});

const HTTP = job(`  - id: all
    uses: http
    with: { get: "{{vars.shop}}/products" }
    test: res.code == 200 && len(res.body) == 2
    outputs: { first: "res.body[0]" }
  - uses: echo
    with: { message: "{{outputs.first.name}}" }
    test: res.message != ""
`) + 'vars: { shop: "{{SHOP_URL}}" }\n';

Deno.test("smoke: requests, tests and outputs", () =>
  runner(["w.yml"], { "w.yml": HTTP }, ({ code, stdout, stderr }) => {
    assertEquals([code, stderr], [0, ""], stdout);
    assertPassed(stdout);
  }));

Deno.test("smoke: a failed test shows its values, the request and a difference", () =>
  runner(["w.yml"], {
    "w.yml": job(`  - uses: http
    with: { get: "{{vars.shop}}/products" }
    test: res.body[0] == {"name":"none", "of":"these"}
`) + 'vars: { shop: "{{SHOP_URL}}" }\n',
  }, ({ code, stdout }) => {
    assertEquals(code, 1);
    assertStringIncludes(stdout, "w.yml:7:11");
    assertMatch(stdout, /^ +- .*"?none"?/m);
    assertStringIncludes(stdout, "curl ");
  }));

Deno.test("smoke: all mistakes of a file are reported before anything runs", () =>
  runner(["w.yml"], {
    "w.yml": job("  - { uses: hallo }\n  - { uses: hello, test: 1 + }\n"),
  }, ({ code, stdout, stderr }) => {
    assertEquals([code, stdout], [1, ""]);
    assertStringIncludes(stderr, 'did you mean "hello"?');
    assertStringIncludes(stderr, "w.yml:6:");
  }));

Deno.test("smoke: commands, in the background too, and no secret in what they print", () =>
  runner(["-v", "w.yml"], {
    "w.yml": job(`  - { uses: shell, with: { cmd: "sleep 100", background: true } }
  - uses: shell
    with: { cmd: "echo $A_TOKEN; exit 3" }
    test: res.code == 3 && res.stdout == vars.token + "\\n"
    echo: the token is {{vars.token}}
`) + 'vars: { token: "{{A_TOKEN}}" }\n',
  }, ({ code, stdout, stderr }) => {
    assertEquals(code, 0, stdout + stderr);
    assertStringIncludes(stdout, "***");
    assert(!(stdout + stderr).includes("supersecret"), stdout);
  }));

Deno.test({
  name: "smoke: plug-ins, as modules and as programs",
  ignore: Deno.build.os === "windows",
  fn: () =>
    withFiles({
      "w.yml": job("  - { uses: sum, test: res.sum == 3 }\n  - { uses: cat, test: res.a == 1 }\n"),
      "plugins/runner-sum.ts":
        'export default ({ action, integer }: any) => action({ name: "sum",\n' +
        '  summary: "Adds", params: { a: integer("A number").default(1) },\n' +
        "  run: (_: unknown, { a }: { a: number }) => ({ res: { sum: a + 2 } }) });\n",
      "plugins/runner-cat": '#!/bin/sh\necho \'{"res": {"a": 1}, "status": 0}\'\n',
    }, async (cwd) => {
      await Deno.chmod(`${cwd}/plugins/runner-cat`, 0o755);
      const env = { RUNNER_PLUGIN_DIR: "plugins" };
      const { code, stdout, stderr } = await runCli(["w.yml"], { cwd, env });
      assertEquals([code, stderr], [0, ""], stdout);
    }),
});

const FORMATS: Readonly<Record<string, string>> = {
  junit: "<testsuites",
  json: '"schema": "runner-report/1"',
  html: "<!doctype html>",
  ndjson: '"type":"run_finished"',
  tap: "TAP version 1",
  ctrf: '"tool"',
  markdown: "# ",
};

Deno.test("smoke: every report file", async () => {
  const args = Object.keys(FORMATS).map((format) => `--report=${format}=r.${format}`);
  const steps = "  - { uses: hello, test: status == 0 }\n  - { uses: hello, test: status == 1 }\n";
  await runner([...args, "w.yml"], { "w.yml": job(steps) }, ({ code, stderr }, read) => {
    assertEquals([code, stderr], [1, ""]);
    for (const [format, part] of Object.entries(FORMATS)) {
      assertStringIncludes(read(`r.${format}`), part);
    }
  });
});

Deno.test("smoke: functions that need libraries", () =>
  runner(["w.yml"], {
    "w.yml": job(`  - uses: hello
    test:
    - json_path({"a":[1]}, "$.a[0]") == [1]
    - css("<p>x</p>", "p") == ["x"] && xpath("<a>x</a>", "//a") == ["x"]
    - '"ab" matches "^a" && capture("ab", "a(b)")[1] == "b"'
    - 'parse_csv("a\\n1")[0].a == "1" && parse_yaml("a: [1]").a == [1]'
    - schema(1, {"type":"integer"}) && schema("a@b.example", {"format":"email"})
    - schema(1, {"$schema":"http://json-schema.org/draft-04/schema#", "type":"integer"})
`),
  }, ({ code, stdout, stderr }) => assertEquals([code, stderr], [0, ""], stdout)));

Deno.test("smoke: statistics of rounds, and a database", () =>
  runner(["w.yml"], {
    "w.yml": `name: Smoke
jobs:
- name: j
  load: { users: 5, count: 20, expect: "stats.failed == 0 && stats.p95 < 60" }
  steps:
  - { uses: db, with: { dsn: ":memory:", query: "select 1 as a" }, test: "res.rows[0].a == 1" }
`,
  }, ({ code, stdout, stderr }) => assertEquals([code, stderr], [0, ""], stdout)));

const API = `openapi: 3.0.0
info: { title: Shop, version: "1" }
servers: [{ url: "${SHOP.url}" }]
paths:
  /products:
    get:
      responses:
        "200":
          description: all
          content:
            application/json: { schema: { type: array, items: { type: object } } }
`;

Deno.test("smoke: a workflow is made of an OpenAPI description, checked, formatted and run", () =>
  withFiles({ "api.yml": API }, async (cwd) => {
    for (
      const args of [
        ["gen", "api.yml", "-o", "w.yml"],
        ["check", "--strict", "w.yml"],
        ["fmt", "w.yml"],
        ["--openapi", "api.yml", "--min-coverage", "100", "w.yml"],
      ]
    ) {
      const { code, stdout, stderr } = await runCli(args, { cwd });
      assertEquals(code, 0, `${args.join(" ")}\n${stdout}${stderr}`);
    }
  }));

Deno.test("smoke: a curl command becomes a workflow", () =>
  runner(["new", "--from", "curl", `curl -H 'A: b' ${SHOP.url}/products`], {}, (result) => {
    assertEquals([result.code, result.stderr], [0, ""]);
    assertStringIncludes(result.stdout, "uses: http");
  }));

Deno.test("smoke: the graph of the jobs, and the schema of the files", async () => {
  const yaml = "name: n\njobs:\n- { name: One, id: a, steps: [{ uses: hello }] }\n" +
    "- { name: Two, needs: [a], steps: [{ uses: hello }] }\n";
  const files = { "w.yml": yaml };
  await runner(["dag", "w.yml"], files, ({ stdout }) => assertStringIncludes(stdout, "Two"));
  await runner(["dag", "--mermaid", "w.yml"], files, ({ stdout }) => {
    assertStringIncludes(stdout, "flowchart LR");
  });
  await runner(["schema"], {}, ({ stdout }) => assert("$defs" in JSON.parse(stdout)));
});

Deno.test("smoke: a suite in shards, whose reports are merged", () =>
  withFiles({
    "flows/a.yml": job("  - { uses: hello, test: status == 0 }\n"),
    "flows/b.yml": job("  - { uses: hello, test: status == 0 }\n"),
  }, async (cwd) => {
    for (const shard of ["1/2", "2/2"]) {
      const name = `ndjson=${shard[0]}.ndjson`;
      const { code, stdout } = await runCli(["--shard", shard, "--report", name, "flows"], { cwd });
      assertEquals(code, 0, stdout);
    }
    const merged = await runCli(["report", "merge", "1.ndjson", "2.ndjson"], { cwd });
    assertEquals(merged.code, 0, merged.stderr);
    assertStringIncludes(merged.stdout, "2 passed (2)");
  }));

Deno.test("smoke: the pieces of a run, and their merge", () =>
  withFiles({
    "w.yml":
      "name: n\njobs:\n- { name: One, id: a, steps: [{ uses: hello, test: status == 0 }] }\n" +
      "- { name: Two, id: b, needs: [a], steps: [{ uses: hello, test: status == 0 }] }\n",
  }, async (cwd) => {
    for (
      const args of [
        ["prepare", "w.yml", "--out", "R/run.json"],
        ["w.yml", "--run", "R/run.json", "--only", "a", "--outputs", "R/a/outputs.json"],
        [
          "w.yml",
          "--run",
          "R/run.json",
          "--only",
          "b",
          "--inputs",
          "R",
          "--outputs",
          "R/b/outputs.json",
        ],
      ]
    ) {
      const { code, stdout, stderr } = await runCli(args, { cwd });
      assertEquals(code, 0, `${args.join(" ")}\n${stdout}${stderr}`);
    }
  }));

Deno.test({
  name: "smoke: an interrupted run cleans up, and leaves no process behind",
  ignore: Deno.build.os === "windows",
  fn: () =>
    withFiles({
      "w.yml": job('  - { uses: shell, with: { cmd: "echo $$ > pid; exec sleep 100" } }\n') +
        "  finally: [{ uses: shell, with: { cmd: touch cleaned } }]\n",
    }, async (cwd) => {
      const child = startCli(["w.yml"], { cwd });
      const isThere = (path: string) =>
        Deno.stat(`${cwd}/${path}`).then((f) => f.size > 0, () => false);
      await until(() => isThere("pid"), "the command runs");
      child.kill("SIGINT");
      const [{ code }] = await Promise.all([
        child.status,
        new Response(child.stdout).text(),
        new Response(child.stderr).text(),
      ]);
      assertEquals(code, 1);
      assertEquals(await Deno.stat(`${cwd}/cleaned`).then(() => true, () => false), true);
      const pid = Number(await Deno.readTextFile(`${cwd}/pid`));
      assertEquals(await Deno.stat(`/proc/${pid}`).then(() => true, () => false), false);
    }),
});
