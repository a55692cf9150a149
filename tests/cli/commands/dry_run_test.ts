import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { runAt } from "../../support/run/run_at.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";

/** Returns the output of a dry run of a workflow. */
async function dryRun(yaml: string, args: string[] = [], files: Record<string, string> = {}) {
  return await withFiles({ "w.yml": yaml, ...files }, async (cwd) => {
    const before = [...Deno.readDirSync(cwd)].length;
    const result = await runMain(["--dry-run", "--no-check", ...args, "w.yml"], {
      cwd,
      env: { API_TOKEN: "hunter2-hunter2", BASE: "http://shop.test" },
    });
    assertEquals([...Deno.readDirSync(cwd)].length, before, "something was run");
    return result;
  });
}

const FLOW = `
name: Shop
description: |
  Checks the shop
  after a release
vars:
  base: "{{BASE}}"
  token: "{{API_TOKEN}}"
  run: "r-{{random_str(8)}}"
  db: {host: a, port: 1}
jobs:
  - name: Buy
    id: buy
    needs: [login]
    lock: db
    skipif: vars.db.host == "b"
    repeat: {count: 3, interval: 2s, async: true}
    steps:
      - uses: shell
        name: run {{repeat_index}} of {{vars.base}}
        wait: 1s
        timeout: "{{vars.db.port}}"
        retry: {max_attempts: 3, interval: 1s, initial_delay: 500ms}
        vars: {a: "{{outputs.auth.token}}", b: "{{vars.db.port + 1}}"}
        iteration: [{who: al}, {who: "{{vars.db.host}}"}]
        with: {cmd: "touch ran-{{vars.who}}-{{vars.a}}-{{vars.b}}-{{outputs.auth.token}}"}
        skipif: outputs.auth.token == ""
        test: status == 0
        echo: "{{res.code}} {{vars.base}}"
  - name: Log in to {{vars.base}}
    id: login
    defaults:
      http: {url: "{{vars.base}}", headers: {X-Run: "{{vars.run}}"}}
    steps:
      - uses: http
        id: auth
        name: Get
        with:
          post: /login
          headers: {Authorization: "Bearer {{vars.token}}", Cookie: "s={{outputs.auth.x}}"}
          body: {n: [1, {a: 2, b: "x\\ny"}], t: "true", e: "", p: {}}
        test: res.code == 200
        outputs: {token: res.body.token}
      - uses: hello
        skipif: vars.db.port == 1
`;

Deno.test("--dry-run prints the plan, with all that is known of it, and runs nothing", async () => {
  const { code, stdout, stderr } = await dryRun(FLOW);
  assertEquals([code, stderr], [0, ""]);
  assertEquals(
    stdout,
    `# dry run: 2 jobs, nothing was run
name: Shop
description: |-
  Checks the shop
  after a release
vars:
  base: "http://shop.test"
  token: "***"
  run: "r-{{random_str(8)}}"
  db:
    host: a
    port: 1
jobs:
  - id: buy
    name: Buy
    needs:
      - login
    lock: db
    skipif: vars.db.host == "b"
    repeat:
      count: 3
      interval: 2s
      async: true
    steps:
      - uses: shell
        name: "run {{repeat_index}} of http://shop.test"
        wait: 1s
        timeout: 1
        retry:
          max_attempts: 3
          interval: 1s
          initial_delay: 500ms
        vars:
          a: "{{outputs.auth.token}}"
          b: 2
        iteration:
          - who: al
          - who: a
        with:
          cmd: "touch ran-{{vars.who}}-{{vars.a}}-2-{{outputs.auth.token}}"
        skipif: outputs.auth.token == ""
        test: status == 0
        echo: "{{res.code}} http://shop.test"
  - id: login
    name: "Log in to http://shop.test"
    steps:
      - uses: http
        id: auth
        name: Get
        with:
          url: "http://shop.test"
          headers:
            X-Run: "{{vars.run}}"
            Authorization: "***"
            Cookie: "s={{outputs.auth.x}}"
          post: /login
          body:
            "n":
              - 1
              - a: 2
                b: |-
                  x
                  y
            t: "true"
            e: ""
            p: {}
        test: res.code == 200
        outputs:
          token: res.body.token
      - skipped: "skipif is true: vars.db.port == 1"
        uses: hello
        skipif: vars.db.port == 1
`,
  );
});

Deno.test("a dry run asks no server and starts no program", async () => {
  const { code, stdout, seen } = await runAt(
    `
name: n
jobs:
  - name: j
    steps:
      - {uses: http, with: {get: "{url}/asked"}}
      - {uses: shell, with: {cmd: "curl {url}/asked"}}
`,
    ["--dry-run"],
  );
  assertEquals([code, seen], [0, []]);
  assertStringIncludes(stdout, "/asked");
});

Deno.test("a dry run shows the part that was chosen, with the vars that were set", async () => {
  const { code, stdout } = await dryRun(FLOW, [
    ...["--only", "buy", "--no-needs", "--skip", "b*"],
    ...["--var", "base=http://other", "--var", "run=fixed", "--var", "db.host=b"],
  ]);
  assertEquals(code, 0);
  assertStringIncludes(stdout, "# dry run: 1 of 2 jobs, nothing was run");
  assertStringIncludes(stdout, '- id: buy\n    name: Buy\n    skipped: "--skip"\n');
  assertStringIncludes(stdout, "run: fixed");
  assert(!stdout.includes("Log in") && !stdout.includes("needs:"), stdout);
});

/** The lines of one step's \`with\` in a dry run of a workflow with that step. */
async function withOf(step: string, options = ""): Promise<string> {
  const yaml = `name: n\nvars: {a: 1, m: {x: 1}, r: "{{random_int(9)}}"}\njobs:\n  - name: j\n` +
    `${options}    steps:\n      - ${step}\n`;
  const { code, stdout, stderr } = await dryRun(yaml);
  assertEquals([code, stderr], [0, ""]);
  return stdout.slice(stdout.indexOf("- uses: hello")).split("\n").slice(1)
    .map((line) => line.slice(8)).filter((line) => line !== "").join("\n");
}

Deno.test("values that depend on the run are shown as written", async (test) => {
  const table: [step: string, shown: string, options?: string][] = [
    ["{uses: hello, with: {v: '{{vars.a + 1}}'}}", "with:\n  v: 2"],
    ["{uses: hello, with: {v: '{{outputs.x}}'}}", 'with:\n  v: "{{outputs.x}}"'],
    [
      "{uses: hello, with: {v: '{{ outputs[\"a-b\"] }}!'}}",
      'with:\n  v: "{{ outputs[\\"a-b\\"] }}!"',
    ],
    [
      "{uses: hello, with: {v: '{{outputs.x ?? vars.a}}'}}",
      'with:\n  v: "{{outputs.x ?? vars.a}}"',
    ],
    ["{uses: hello, with: {v: '{{random_int(5)}}'}}", 'with:\n  v: "{{random_int(5)}}"'],
    ["{uses: hello, with: {v: '{{unixtime()}}'}}", 'with:\n  v: "{{unixtime()}}"'],
    ["{uses: hello, with: {v: '{{vars.r}} {{vars.a}}'}}", 'with:\n  v: "{{vars.r}} 1"'],
    ["{uses: hello, with: {v: '{{vars[\"r\"]}}'}}", 'with:\n  v: "{{vars[\\"r\\"]}}"'],
    ["{uses: hello, with: {v: '{{len(vars)}}'}}", 'with:\n  v: "{{len(vars)}}"'],
    ["{uses: hello, with: {v: '{{len($env)}}'}}", 'with:\n  v: "{{len($env)}}"'],
    ["{uses: hello, with: {v: '{{let x = 4; x + vars.a}}'}}", "with:\n  v: 5"],
    ["{uses: hello, with: {v: '{{map([1], # + vars.a)}}'}}", "with:\n  v:\n    - 2"],
    ["{uses: hello, with: {v: '{{repeat_index}}'}}", "with:\n  v: 0"],
    [
      "{uses: hello, with: {v: '{{repeat_index}}'}}",
      'with:\n  v: "{{repeat_index}}"',
      "    repeat: {count: 2}\n",
    ],
    [
      "{uses: hello, vars: {m: {x: '{{outputs.x}}'}}, with: {v: '{{vars.m.x}}'}}",
      'vars:\n  m:\n    x: "{{outputs.x}}"\nwith:\n  v: "{{vars.m.x}}"',
    ],
    [
      "{uses: hello, vars: {m: {y: 2}}, with: {v: '{{vars.m}}'}}",
      'vars:\n  m:\n    "y": 2\nwith:\n  v:\n    x: 1\n    "y": 2',
    ],
    [
      "{uses: hello, vars: {r: 7}, with: {v: '{{vars.r}}'}}",
      "vars:\n  r: 7\nwith:\n  v: 7",
    ],
    [
      "{uses: hello, with: {v: '{{vars.m.x.y}}'}}",
      'with:\n  v: "{{vars.m.x.y}}"',
    ],
    ["{uses: hello, echo: 'a {{vars.m.z}}'}", "echo: a nil"],
    [
      "{uses: hello, with: {v: '{{outputs.x}} {{vars.z}}'}}",
      'with:\n  v: "{{outputs.x}} {{vars.z}}"',
    ],
    ["{uses: hello, skipif: vars.b.c}", "skipif: vars.b.c"],
    ['{uses: hello, with: {v: "\\e[31m"}}', 'with:\n  v: "\\e[31m"'],
    [
      "{uses: hello, with: {v: [], w: [[1]], n: null}}",
      'with:\n  v: []\n  w:\n    - - 1\n  "n": null',
    ],
  ];
  for (const [step, shown, options] of table) {
    await test.step(step, async () => assertEquals(await withOf(step, options), shown));
  }
});

Deno.test("no secret is shown in a dry run", async () => {
  const secret = "hunter2-hunter2";
  const { code, stdout } = await dryRun(
    `
name: n {{API_TOKEN}}
vars: {token: "{{API_TOKEN}}", also: "x{{API_TOKEN}}", list: ["{{API_TOKEN}}"]}
jobs:
  - name: j {{vars.also}}
    steps:
      - uses: http
        name: "{{vars.token}}"
        with:
          get: "http://u:pass-word-1@h.test/{{vars.token}}"
          headers: {Authorization: Basic dTpsaXRlcmFsLXBhc3M=, cookie: "sid=crumb-crumb"}
          body: "{{vars.list}} and literal-pass, crumb-crumb, pass-word-1"
      - uses: shell
        with: {cmd: "echo of-a-variable", env: {MY_TOKEN: of-a-variable}}
      - uses: embedded
        with: {path: job.yml, vars: {auth: {pin: of-a-job-file}}}
        echo: of-a-job-file
      - uses: shell
        vars: {my_password: other-secret}
        with: {cmd: "echo {{vars.my_password}} {{vars.token}}\\n{{outputs.x}}"}
        echo: "{{vars.also}}"
        skipif: '"${secret}" == vars.token'
`,
    [],
    { "job.yml": "name: inside\nsteps: [{uses: hello, name: '{{vars.auth.pin}}'}]\n" },
  );
  assertEquals(code, 0);
  const secrets = [secret, "pass-word-1", "dTpsaXRlcmFs", "literal-pass", "crumb-crumb"];
  secrets.push("other-secret", "of-a-variable", "of-a-job-file");
  for (const text of secrets) assert(!stdout.includes(text), stdout);
  assertStringIncludes(stdout, 'skipped: "skipif is true: \\"***\\" == vars.token"');
});

Deno.test("a dry run loads and checks the same files as a run", async (test) => {
  await test.step("mistakes in the file", async () => {
    const { code, stdout, stderr } = await dryRun("name: n\njobs: {}\n");
    assertEquals([code, stdout], [1, ""]);
    assertStringIncludes(stderr, "w.yml:2:7: error");
  });
  await test.step("vars that cannot be evaluated", async () => {
    const { code, stdout, stderr } = await dryRun(
      "name: n\nvars: {a: 'x{{NOPE}}'}\njobs: [{name: j, steps: [{uses: hello}]}]\n",
    );
    assertEquals([code, stdout], [1, ""]);
    assertStringIncludes(stderr, 'cannot evaluate "vars.a"');
  });
  await test.step("--list beside it", async () => {
    const { code, stderr } = await dryRun(FLOW, ["--list"]);
    assertEquals(code, 1);
    assertStringIncludes(stderr, "options --list and --dry-run cannot be combined");
  });
});

Deno.test("a dry run shows the steps of the jobs that steps embed", async () => {
  const flow = `
name: n
vars: {who: bob}
jobs:
  - name: j
    steps:
      - uses: embedded
        with: {path: in.yml, vars: {name: "{{vars.who}}", o: "{{outputs.z}}"}}
      - uses: embedded
        with: {path: in.yml, vars: "{{outputs.all}}"}
`;
  const inner = `
name: In
steps:
  - uses: shell
    name: hi {{vars.name}}
    with: {cmd: "touch {{vars.o}} {{vars.name}} {{vars.who}}"}
`;
  const { code, stdout } = await dryRun(flow, [], { "in.yml": inner });
  assertEquals(code, 0);
  const lines = stdout.split("\n").map((line) => line.trim());
  assertEquals(lines.filter((line) => /^name: .*hi|^cmd/.test(line)), [
    "name: hi bob",
    'cmd: "touch {{vars.o}} bob {{vars.who}}"',
    'name: "hi {{vars.name}}"',
    'cmd: "touch {{vars.o}} {{vars.name}} {{vars.who}}"',
  ]);
});

Deno.test("--dry-run shows no passphrase and no key that a step writes out", async () => {
  const { stdout } = await dryRun(`
name: n
jobs:
  - name: j
    steps:
      - uses: http
        with:
          get: https://shop.test/
          tls: {cert: client.pem, key: "-----BEGIN PRIVATE KEY-----x", passphrase: abcdef}
      - uses: redis
        with: {url: "rediss://shop.test", command: PING, tls: {pfx: a.p12, passphrase: 123456}}
`);
  assert(!/abcdef|123456|PRIVATE/.test(stdout), stdout);
  assertEquals(stdout.match(/passphrase: "\*\*\*"/g)?.length, 2, stdout);
  assertStringIncludes(stdout, "cert: client.pem");
});

const LIST_FLOW = `
name: Shop
vars: {base: "{{BASE}}", must: "x{{MISSING}}"}
jobs:
  - name: Test {{vars.base}}
    id: test
    needs: [build, lint]
    steps:
      - {uses: hello}
      - {uses: hello, id: long-id, name: "on {{vars.base}}, {{outputs.x}}"}
  - {name: Lint, id: lint, steps: [{uses: shell, id: l, with: {cmd: touch ran}}]}
  - name: "Build\\nit"
    id: build
    steps: [{uses: embedded, name: inner, with: {path: in.yml}}]
  - {name: no id, steps: [{uses: hello, name: "{{vars.must}}"}]}
`;
const FILES = {
  "w.yml": LIST_FLOW,
  "in.yml": "name: In\nsteps: [{uses: hello, id: deep, name: Deep}]\n",
};

function list(args: string[], env: Record<string, string> = { BASE: "b" }) {
  return withFiles(FILES, async (cwd) => {
    const result = await runMain(["--list", ...args, "w.yml"], { cwd, env });
    assertEquals([...Deno.readDirSync(cwd)].length, 2, "something was run");
    return result;
  });
}

Deno.test("--list prints jobs and steps with their ids, also where a run would lack something", async () => {
  const { code, stdout, stderr } = await list([]);
  assertEquals([code, stderr], [0, ""]);
  assertEquals(
    stdout,
    `Test b                 test     needs build, lint
  hello
  on b, {{outputs.x}}  long-id
Lint                   lint
  shell                l
Build it               build
  inner
    Deep               deep
no id                  job_3
  {{vars.must}}
`,
  );
});

Deno.test("--list shows the part that was chosen", async (test) => {
  const table: [args: string[], jobs: string[]][] = [
    [["--only", "test"], ["Test b test needs build, lint", "Lint lint", "Build it build"]],
    [["--only", "test", "--no-needs"], ["Test b test"]],
    [["--only", "Test b", "--skip", "lint", "--var", "base=c"], []],
    [["--only", "Test c", "--no-needs", "--skip", "te*", "--var", "base=c"], [
      "Test c test skipped: --skip",
    ]],
  ];
  for (const [args, jobs] of table) {
    await test.step(args.join(" "), async () => {
      const { stdout } = await list(args);
      const found = stdout.split("\n").filter((line) => /^[^ ]/.test(line));
      assertEquals(found.map((line) => line.replace(/ {2,}/g, " ")), jobs);
    });
  }
});

Deno.test("--list shows no secret and nothing that drives a terminal", async () => {
  const { code, stdout } = await list([], {
    BASE: "a\x1b[31mb-hunter2hunter",
    KEY: "hunter2hunter",
  });
  assertEquals(code, 0);
  assertStringIncludes(stdout, "Test a␛[31mb-***");
});

Deno.test("--list of a file that cannot be loaded is an error like that of a run", async () => {
  const { code, stdout, stderr } = await withFiles(
    {},
    (cwd) => runMain(["--list", "no.yml"], { cwd }),
  );
  assertEquals([code, stdout], [1, ""]);
  assertEquals(stderr, "runner: error: workflow file 'no.yml' not found\n");
});

Deno.test("--list shows the tags of jobs, with those of their workflow", async () => {
  const workflow = `name: Tags
tags: [smoke]
jobs:
  - { name: one, id: one, steps: [{ uses: hello }] }
  - { name: two, id: two, needs: [one], tags: [slow], steps: [{ uses: hello }] }
`;
  const { stdout } = await withFiles(
    { "w.yml": workflow },
    (cwd) => runMain(["--list", "w.yml"], { cwd }),
  );
  assertEquals(stdout.match(/^\S.*$/gm), [
    "one      one  tags smoke",
    "two      two  needs one; tags smoke, slow",
  ]);
});
