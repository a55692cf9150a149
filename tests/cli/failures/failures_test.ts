import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { startCli } from "../../support/run/run_cli.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withRig } from "../../support/run/rig.ts";
import { withFiles } from "../../support/temp_dir.ts";

/** Returns the output of a run of one job with these steps. */
async function printed(steps: string, env: Record<string, string> = {}, vars = "{}") {
  const workflow = `name: n\nvars: ${vars}\njobs:\n  - name: j\n    steps:\n${steps}`;
  return await withFiles(
    { "w.yml": workflow },
    (cwd) => runMain(["--no-check", "w.yml"], { cwd, env }),
  );
}

Deno.test("a false comparison of lists or maps shows what differs, by path", async () => {
  const { code, stdout } = await printed(`
      - uses: hello
        vars:
         got: {items: [{id: 1}, {id: 2, name: two}, {id: 3}], same: {a: [1, 2]}, total: 3}
         wanted: {items: [{id: 0}, {id: 1}, {id: 2, name: zwei}, {id: 3}], same: {a: [1, 2]}, total: 3}
        test: vars.got == vars.wanted
`);
  assertEquals(code, 1);
  assertStringIncludes(
    stdout,
    `
        - expected: vars.wanted
        + received: vars.got
        @ .items[0].id, .items[1].name
          {
            "items": [
              {
        -       "id": 0
        -     }
        -     {
                "id": 1
              }
              {
                "id": 2
        -       "name": "zwei"
        +       "name": "two"
              }
              {
                "id": 3
`,
  );
});

Deno.test("a false comparison of long texts shows where they differ", async () => {
  const page = Array.from({ length: 200 }, (_, at) => `line ${at + 1} of a page`);
  const other = page.with(149, "line 150 of another page");
  const { stdout } = await printed(`
      - uses: hello
        vars:
         got: ${JSON.stringify(page.join("\n"))}
         wanted: ${JSON.stringify(other.join("\n"))}
        test: vars.got == vars.wanted
`);
  assertStringIncludes(
    stdout,
    `
        @ line 150
          line 147 of a page
          line 148 of a page
          line 149 of a page
        - line 150 of another page
        + line 150 of a page
          line 151 of a page
          line 152 of a page
          line 153 of a page
`,
  );
  assertStringIncludes(stdout, "test is false: vars.got and vars.wanted differ at line 150\n");
});

Deno.test("steps that read the output of a failed step are listed with its failure", async () => {
  const { stdout } = await printed(`
      - {name: login, id: login, uses: hello, test: 1 == 2, outputs: {token: res.nope.x}}
      - {name: use, uses: echo, with: {message: "{{outputs.login.token.x}}"}}
      - {name: also, uses: hello, test: outputs.login.token == "a"}
      - {name: other, uses: hello, test: 1 == 3}
`);
  assertStringIncludes(
    stdout,
    `
     test is false
     also failed: j › use   w.yml:8:66
     also failed: j › also   w.yml:9:41
  2. j › other   w.yml:10:42
     test is false

Total`,
  );
});

Deno.test("a difference shows no secret, whole or in part", async () => {
  const secret = "secret-of-a-certain-length-0123456789";
  const filling = "x".repeat(400);
  const { stdout } = await printed(
    `
      - uses: hello
        vars:
         a: "${filling}{{vars.token}}${filling}A"
         b: "${filling}{{vars.token}}${filling}B"
         c: {list: ["{{vars.token}}", "${filling}{{vars.token}}1"], "{{vars.token}}": 1}
         d: {list: ["other", "${filling}{{vars.token}}2"], "{{vars.token}}": 2}
        test: vars.a == vars.b
      - {uses: hello, vars: {c: {l: ["{{vars.token}}", "${filling}{{vars.token}}1"]}, d: {l: [x, "${filling}{{vars.token}}2"]}}, test: vars.c == vars.d}
      - {uses: hello, vars: {s: "${"y".repeat(80)}{{vars.token}}"}, test: 'vars.s == "${
      "y".repeat(80)
    }"'}
`,
    { API_TOKEN: secret },
    `{token: "{{API_TOKEN}}"}`,
  );
  assertStringIncludes(stdout, "@ character");
  assertStringIncludes(stdout, "@ .l[0]");
  for (let at = 0; at + 8 <= secret.length; at++) {
    assert(!stdout.includes(secret.slice(at, at + 8)), stdout);
  }
});

Deno.test("a failed command shows the end of its output, and how much was omitted", async () => {
  const { stdout } = await printed(`
      - uses: shell
        with:
         cmd: |
           i=0; while [ $i -lt 3000 ]; do i=$((i+1)); echo "line $i"; done
           i=0; while [ $i -lt 100 ]; do i=$((i+1)); echo "e$i" >&2; done; exit 3
        test: status == 0
`);
  const [, before, next] =
    /\n +\((\d+) lines before, -v shows all\) …\n +line (\d+)/.exec(stdout) ??
      [];
  assert(Number(before) > 2000, stdout);
  assertEquals(Number(next), Number(before) + 1);
  assertStringIncludes(stdout, "            line 2999\n            line 3000\n");
  assert(!/line 2000\n/.test(stdout));
  assertStringIncludes(stdout, "(62 lines before, -v shows all) …\n            e63\n");
  assertStringIncludes(stdout, "            e100\n");
});

Deno.test("a failed command shows the end of an output above the limit", async () => {
  const workflow = `name: n
jobs:
  - name: j
    steps:
      - {uses: shell, with: {cmd: "seq 100000; echo broken", max_output: 9999}, test: res.code == 1}
`;
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const { code, stdout } = await runMain(["w.yml"], { cwd });
    assertEquals(code, 1);
    assertStringIncludes(stdout, "99999\n            100000\n            broken\n");
    assertStringIncludes(stdout, "truncated: true");
    assertMatch(
      stdout,
      /\(\d+ lines before, -v shows what max_output kept\) …\n/,
    );
    assert(!stdout.includes("shows all"), stdout);
  });
});

Deno.test("file reports are written even if the text report is not read to its end", async () => {
  const steps = Array.from(
    { length: 2000 },
    (_, at) =>
      `      - {name: step ${at}, wait: 1ms, uses: echo, with: {message: x}, echo: "${
        "text ".repeat(40)
      }"}\n`,
  );
  await withRig(async (rig) => {
    // The run waits until it learns that its reader is gone.
    const last = `      - {name: last, uses: http, with: {get: "${rig.url}/hang"}}\n`;
    const workflow = `name: n\njobs:\n  - name: j\n    steps:\n${steps.join("")}${last}`;
    await withFiles({ "w.yml": workflow }, async (cwd) => {
      const args = ["--report", "json=out/run.json,junit=out/run.xml", "w.yml"];
      const child = startCli(args, { cwd });
      const reader = child.stdout.getReader();
      await reader.read();
      await reader.cancel();
      const [{ code }, stderr] = await Promise.all([
        child.status,
        new Response(child.stderr).text(),
      ]);
      assertEquals(stderr, "");
      assertEquals(code, 1);
      const { interrupted, jobs } = JSON.parse(await Deno.readTextFile(`${cwd}/out/run.json`));
      assertEquals(interrupted, "stopped: nobody reads the report any more");
      assertEquals(jobs.length, 1);
      const xml = await Deno.readTextFile(`${cwd}/out/run.xml`);
      assert(xml.trimEnd().endsWith("</testsuites>"), xml.slice(-100));
      assertEquals([...Deno.readDirSync(`${cwd}/out`)].length, 2);
    });
  });
});

Deno.test("a missing output is blamed on the earlier step that did not publish it", async () => {
  const { code, stdout } = await printed(`
      - {name: log in, id: login, uses: hello, test: 1 == 2, outputs: {token: res.token, ok: status}}
      - {name: breaks, id: b-2, uses: http, with: {get: "http://127.0.0.1:1/"}, outputs: {code: res.code}}
      - {name: left out, id: out, uses: hello, skipif: "true", outputs: {gone: status}}
      - {name: by id, uses: hello, with: {v: "x {{outputs.login.token}}"}}
      - {name: flat, uses: hello, with: {v: "x {{outputs.token}}"}}
      - {name: in brackets, uses: hello, with: {v: "x {{outputs['b-2'].code}}"}}
      - {name: reads nothing, uses: hello, with: {v: "x {{outputs.out.gone}}"}}
      - {name: false test, uses: hello, test: outputs.login.token == "t"}
      - {name: is there, uses: hello, test: outputs.login.ok == 5}
      - {name: not about it, uses: hello, with: {v: "{{outputs.login.ok}} {{vars.nope}}"}}
`);
  assertEquals(code, 1);
  const blamed = (name: string) => {
    const part = stdout.split(` ${name}\n`)[1]!.split(/\n {3}\d|\n {2}Failed/)[0]!;
    // A long hint goes on in the next line.
    const text = part.replace(/\n[ |]+/g, " ");
    return /the step "([^"]*)", which publishes it, (failed|was skipped)/.exec(text)?.slice(1);
  };
  assertEquals(blamed("by id"), ["log in", "failed"]);
  assertEquals(blamed("flat"), ["log in", "failed"]);
  assertEquals(blamed("in brackets"), ["breaks", "failed"]);
  assertEquals(blamed("reads nothing"), ["left out", "was skipped"]);
  assertEquals(blamed("false test"), ["log in", "failed"]);
  assertEquals(blamed("is there"), undefined);
  assertEquals(blamed("not about it"), undefined);
});

Deno.test("a var that is nil is blamed on the variable that is not set", async () => {
  const text = `name: n
vars: {token: "{{DEPLOY_TOKEN}}", deep: {key: "{{DEPLOY_KEY}}"}, set: "{{A_VARIABLE}}", none: null}
jobs:
  - name: j
    steps:
      - {name: gap, uses: hello, with: {v: "Bearer {{vars.token}}"}}
      - {name: false test, uses: hello, test: vars.token == "t"}
      - {name: deep, uses: hello, with: {v: "x {{vars['deep'].key}}"}}
      - {name: no variable, uses: hello, test: vars.none == "t"}
      - {name: set, uses: hello, test: vars.set == "t"}
`;
  await withFiles({ "w.yml": text }, async (cwd) => {
    const args = ["--no-check", "w.yml"];
    const { code, stdout } = await runMain(args, { cwd, env: { A_VARIABLE: "a" } });
    assertEquals(code, 1);
    const parts = stdout.split("  Failed in")[0]!.split(/\n {3}\d\. /).slice(1);
    const hints = parts.map((part) => /vars.* reads the environment variable .*/.exec(part)?.[0]);
    assertEquals(hints, [
      "vars.token reads the environment variable DEPLOY_TOKEN, which is not set",
      "vars.token reads the environment variable DEPLOY_TOKEN, which is not set",
      "vars.deep.key reads the environment variable DEPLOY_KEY, which is not set",
      undefined,
      undefined,
    ]);
  });
});
