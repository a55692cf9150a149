import { assert, assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { failureAt80 } from "../../support/failures_at_80.ts";
import { withRig } from "../../support/run/rig.ts";
import { startCli } from "../../support/run/run_cli.ts";
import { runHere, runMain } from "../../support/run/run_main.ts";
import { withServer } from "../../support/servers/with_server.ts";
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
     test is false; outputs.token: res has no "nope" – there is "status"
     and 2 more: use, also
  2. j › other   w.yml:10:42
     test is false

Jobs`,
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
    const part = stdout.split(` ${name}\n`)[1]!.split(/\n {3}\d|\n✗ /)[0]!;
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
    const parts = stdout.split("\nFailures\n")[0]!.split(/\n {3}\d\. /).slice(1);
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

/** The command below the only failure of a workflow with these vars and this `with`. */
async function commandOf(
  vars: string,
  parameters: (url: string) => string,
  options: {
    args?: string[];
    env?: Record<string, string>;
    files?: Record<string, string | Uint8Array>;
  } = {},
): Promise<{ command: string; stdout: string }> {
  return await withRig((rig) => {
    const workflow = `name: n
vars: ${vars}
jobs:
  - name: j
    steps:
      - {uses: http, with: ${parameters(rig.url)}, test: "false"}
`;
    return withFiles({ "w.yml": workflow, ...options.files }, async (cwd) => {
      const args = [...options.args ?? [], "w.yml"];
      const { stdout, stderr } = await runMain(args, { cwd, env: options.env ?? {} });
      const [, command] = /reproduce with:\n([^]*?)\n✗ /.exec(stdout) ?? [];
      assert(command !== undefined, stdout + stderr);
      return { command: command.replaceAll(rig.url, "URL").replace(/^ +/gm, ""), stdout };
    });
  });
}

const bearer = (url: string) =>
  `{get: "${url}/x", headers: {Authorization: "Bearer {{vars.token}}"}}`;

Deno.test("a secret of the environment is written in the command as its variable", async () => {
  const { command } = await commandOf(`{token: "{{API_TOKEN}}"}`, bearer, {
    env: { API_TOKEN: "tok-secret-1" },
  });
  assertEquals(command, `curl -L URL/x \\\n${PACKED} \\\n-H 'Authorization: Bearer '"$API_TOKEN"`);
});

const PACKED = "-H 'Accept-Encoding: gzip, deflate, br' --compressed";
const MASKED = `curl -L URL/x \\\n${PACKED} \\\n-H 'Authorization: ***'`;

Deno.test("a secret of --env-file or --var has no name in the user's shell", async () => {
  const fromFile = await commandOf(`{token: "{{API_TOKEN}}"}`, bearer, {
    args: ["--env-file", "secrets.env"],
    files: { "secrets.env": "API_TOKEN=tok-secret-1\n" },
  });
  assertEquals(fromFile.command, MASKED);
  const fromVar = await commandOf(`{token: ""}`, bearer, { args: ["--var", "token=tok-secret-1"] });
  assertEquals(fromVar.command, MASKED);
  for (const { stdout } of [fromFile, fromVar]) assert(!stdout.includes("tok-secret"), stdout);
});

Deno.test("a secret header that is more than a secret with a name is not shown", async () => {
  for (
    const header of [
      `Authorization: "Bearer {{vars.token}}.and-more"`,
      `Authorization: "Bearer short"`,
      `Cookie: "sid={{vars.token}}; a=b"`,
      `Proxy-Authorization: "a b {{vars.token}}"`,
    ]
  ) {
    const { command } = await commandOf(
      `{token: "{{API_TOKEN}}"}`,
      (url) => `{get: "${url}/x", headers: {${header}}}`,
      { env: { API_TOKEN: "tok-secret-1" } },
    );
    const [name] = header.split(":");
    const value = name === "Cookie" ? "sid=***; a=***" : "***";
    assertEquals(command, `curl -L URL/x \\\n${PACKED} \\\n-H '${name}: ${value}'`);
  }
});

Deno.test("nothing is left of a secret that holds another one", async () => {
  const { command, stdout } = await commandOf(
    `{token: "{{API_TOKEN}}", long_token: "{{LONG}}"}`,
    (url) => `{post: "${url}/x", body: "{{vars.long_token}} {{vars.token}}"}`,
    { env: { API_TOKEN: "tok-secret-1", LONG: "before-tok-secret-1-after" } },
  );
  assertStringIncludes(command, `--data-raw '*** '"$API_TOKEN"`);
  assert(!/before|after/.test(stdout), stdout);
});

Deno.test("no secret is in the command in any encoding", async () => {
  const secret = `p@ss/w"ord é+&'<>`;
  const bytes = new TextEncoder().encode(secret);
  const base64 = btoa(String.fromCharCode(...bytes));
  const { command, stdout } = await commandOf(
    `{password: "{{DB_PASSWORD}}"}`,
    (url) =>
      `{post: "${url}/x?p={{vars.password}}", query: {q: "{{vars.password}}"}, headers: {
        X-Raw: "{{vars.password}}", X-Basic: "Basic ${base64}", Content-Type: application/json},
        body: {a: "{{vars.password}}", b: {c: "{{vars.password}}"}}}`,
    { env: { DB_PASSWORD: secret } },
  );
  const encoded = [
    secret,
    JSON.stringify(secret).slice(1, -1),
    encodeURIComponent(secret),
    encodeURI(secret),
    new URLSearchParams({ a: secret }).toString().slice(2),
    base64,
    secret.replaceAll("'", `'\\''`),
  ];
  for (const form of encoded) assert(!stdout.includes(form), `${form} in\n${stdout}`);
  assertStringIncludes(command, `X-Raw: '"$DB_PASSWORD"`);
  assertStringIncludes(command, `"a":"***"`);
  assertStringIncludes(command, `q=***`);
});

Deno.test("a request that had no answer can be repeated, and one of another action has no command", async () => {
  const workflow = `name: n
jobs:
  - name: j
    steps:
      - {uses: http, with: {get: "http://127.0.0.1:1/x"}}
      - {uses: shell, with: {cmd: exit 1}, test: status == 0}
`;
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const { stdout } = await runMain(["w.yml"], { cwd });
    assertEquals(stdout.match(/reproduce with:/g)?.length, 1);
    assertStringIncludes(stdout, "\n          curl -L http://127.0.0.1:1/x \\\n");
  });
});

const GOOD_PFX = Deno.readFileSync(new URL("../../fixtures/tls/good.p12", import.meta.url));

Deno.test("the command connects as the step did, without its passphrase", async () => {
  const { command } = await commandOf(
    "{}",
    (url) =>
      `{get: "${url}/x", ip: 4, version: 1.1, tls: {pfx: good.p12, passphrase: tiger, min_version: 1.3}}`,
    { files: { "good.p12": GOOD_PFX } },
  );
  assertEquals(
    command.split(" \\\n")[0],
    "curl --cert good.p12 --cert-type P12 --pass '***' --tlsv1.3 -4 --http1.1 -L URL/x",
  );
  const versions = [
    ['version: "2"', "--http2-prior-knowledge"],
    ['ip: "4", version: auto', "-4"],
  ] as const;
  for (const [parameters, flag] of versions) {
    const made = await commandOf("{}", (url) => `{get: "${url}/x", ${parameters}}`);
    assertStringIncludes(made.command, `curl ${flag} `);
  }
});

/** Starts a server that responds late. */
function slowServer() {
  return withServer(async () => {
    await new Promise((resolve) => setTimeout(resolve, 400));
    return new Response("slow");
  });
}

const workflow = (step: string) => `name: n\njobs:\n  - name: j\n    steps:\n      - ${step}\n`;

Deno.test("a step that takes longer than max_time fails with the phases of its time", async () => {
  await using server = slowServer();
  const text = await failureAt80(
    workflow(`{ max_time: 10ms, uses: http, with: { get: "${server.url}/" } }`),
  );
  const [head = "", , caret = "", ...phases] = text.split("\n");
  assertMatch(head, /^w\.yml:5:21: it took \d+(\.\d+)?ms, more than 10ms$/);
  assertStringIncludes(caret, "^^^^ most of it was first byte");
  assertMatch(phases.join("\n"), /^first byte is \d+(\.\d+)? \(ms, \d+%\)$/m);
});

Deno.test("max_time does not stop the step, and is checked along with its tests", async () => {
  await using server = slowServer();
  const files = {
    "w.yml": workflow(
      `{ max_time: 10ms, uses: http, with: { get: "${server.url}/" }, test: [res.body == "slow", res.code == 1] }`,
    ),
  };
  await withFiles(files, async (cwd) => {
    const { code, stdout } = await runHere(["--report", "json=r.json", "w.yml"], { cwd });
    assertEquals(code, 1);
    assertStringIncludes(stdout, "test 2 of 2 is false");
    const { jobs } = JSON.parse(await Deno.readTextFile(`${cwd}/r.json`));
    assertEquals(jobs[0].steps[0].assertions, { passed: 1, failed: 2 });
  });
});

Deno.test("a step within max_time is as it was without, and retry repeats one that is not", async () => {
  await using server = slowServer();
  const get = `with: { get: "${server.url}/" }`;
  const files = {
    "w.yml": workflow(`{ max_time: 60s, uses: http, ${get} }`),
    "r.yml": workflow(`{ max_time: 1ms, uses: http, ${get}, retry: { max_attempts: 2 } }`),
    "v.yml": workflow(
      `{ max_time: "{{vars.t}}", vars: { t: 1m }, uses: http, ${get}, test: status == 0 }`,
    ),
    "bad.yml": workflow(`{ max_time: soon, uses: hello }`),
  };
  await withFiles(files, async (cwd) => {
    assertStringIncludes((await runHere(["w.yml"], { cwd })).stdout, "○ http");
    assertStringIncludes((await runHere(["r.yml"], { cwd })).stdout, "↻ 2/2");
    assertStringIncludes((await runHere(["v.yml"], { cwd })).stdout, "✓ http (2 assertions)");
    assertStringIncludes((await runHere(["bad.yml"], { cwd })).stderr, '"max_time"');
  });
});

const HTTP = 'uses: http, with: { get: "URL/" }';
const SLOW = (mark: string) =>
  `it took N, more than 10ms
  6 |       - LINE
    |                     ${mark} most of it was first byte
PHASES`;

/** Steps, and what is printed where N is a time, LINE the step, and PHASES what took the time. */
const FAILURES: readonly (readonly [title: string, step: string, printed: string])[] = [
  ["a request is slow", `{ max_time: 10ms, ${HTTP} }`, SLOW("^^^^")],
  ["the time is in a var", `{ max_time: "{{vars.most}}", ${HTTP} }`, SLOW("^".repeat(15))],
  ["it has a timeout, too", `{ max_time: 10ms, timeout: 9s, ${HTTP} }`, SLOW("^^^^")],
  ["it is one of an iteration", `{ max_time: 10ms, iteration: [{ a: 1 }], ${HTTP} }`, SLOW("^^^^")],
  [
    "the last attempt is slow",
    `{ max_time: 10ms, retry: { max_attempts: 2 }, ${HTTP} }`,
    SLOW("^^^^"),
  ],
  [
    "a command is slow, which has no phases",
    "{ max_time: 1ms, uses: shell, with: { cmd: echo } }",
    `it took N, more than 1ms
  6 |       - LINE
    |                     ^^^`,
  ],
  [
    "no time is allowed",
    "{ max_time: 0s, uses: shell, with: { cmd: echo } }",
    `it took N, more than 0s
  6 |       - LINE
    |                     ^^`,
  ],
  [
    "the var is missing",
    `{ max_time: "{{vars.nope}}", ${HTTP} }`,
    `"max_time" must be a duration like "300ms", "1.5s", "2m" or
"1h30m", or a number of seconds, not nil
  6 |       - LINE
    |                     ^^^^^^^^^^^^^^^`,
  ],
  [
    "the var is not a duration",
    `{ max_time: "{{vars.word}}", ${HTTP} }`,
    `"max_time" must be a duration like "300ms", "1.5s", "2m" or
"1h30m", or a number of seconds, not "soon"
  6 |       - LINE
    |                     ^^^^^^^^^^^^^^^`,
  ],
  [
    "it cannot be evaluated",
    `{ max_time: "{{vars.most.x}}", ${HTTP} }`,
    `a string has no .x
  6 |       - LINE
    |                                  ^`,
  ],
];

for (const [title, step, printed] of FAILURES) {
  Deno.test(`the failure of max_time at 80 columns where ${title}`, async () => {
    await using server = slowServer();
    const text = await failureAt80(`name: n
vars: { most: 10ms, word: soon }
jobs:
  - name: j
    steps:
      - ${step.replace("URL", server.url)}
`);
    const all = text.split("\n");
    const lines = all.slice(0, all.findIndex((line) => /^(request|attempts):/.test(line)));
    const phase = /^(queue|dns|connect|tls|first byte|download) is \d+(\.\d+)? \(ms, \d+%\)$/;
    const kept = lines.filter((line, at) => !(phase.test(line) && phase.test(lines[at - 1] ?? "")));
    const steady = kept.map((line) =>
      line.replace(/^w\.yml:6:\d+: /, "").replace(/^ {2}6 \| {7}- .*/, "  6 |       - LINE")
        .replace(phase, "PHASES").replaceAll(/it took \d+(\.\d+)?m?s/g, "it took N")
    );
    assertEquals(steady.join("\n"), printed);
  });
}

Deno.test("workflows of a suite that fail on one request show it once", async () => {
  await using server = withServer(() => Response.json({ error: "boom" }, { status: 500 }));
  const workflow = (name: string) =>
    `name: ${name}\njobs: [{ name: j, steps: [{ uses: http, with: { get: "${server.url}/orders" }, ` +
    "test: res.code == 200 }] }]\n";
  const files = { "a.yml": workflow("A"), "b.yml": workflow("B"), "c.yml": workflow("C") };
  await withFiles(files, async (cwd) => {
    for (const [args, within] of [[[], "in step 1 of j of "], [["-q"], "in "]] as const) {
      const { code, stdout } = await runMain([...args, ...Object.keys(files)], { cwd });
      assertEquals([code, stdout.split("reproduce with:").length], [1, 2]);
      assertEquals(
        stdout.match(new RegExp(`test is false: .*, as ${within}[ABC]`, "g"))?.length,
        2,
        stdout,
      );
    }
  });
});

Deno.test("jobs that fail on one request show it once, whatever the headers of its responses", async () => {
  let count = 0;
  await using server = withServer(() =>
    Response.json({ error: "boom" }, { status: 500, headers: { "x-request-id": `id${++count}` } })
  );
  const jobs = Array.from({ length: 8 }, (_, index) => `
  - name: job ${index}
    steps:
      - name: get it
        uses: http
        with: { get: "${server.url}/orders" }
        test: res.code == 200
`);
  await withFiles({ "w.yml": `name: n\njobs:${jobs.join("")}` }, async (cwd) => {
    for (const [args, within] of [[[], "in step 1 of "], [["-q"], "in "]] as const) {
      const { code, stdout } = await runMain([...args, "w.yml"], { cwd });
      assertEquals(code, 1);
      const [before, after, ...others] = stdout.split("reproduce with:");
      assertEquals(others, []);
      const job = before!.match(/[✗●] (job \d)/g)!.at(-1)!.slice(2);
      const folded = `: test is false: res.code is 500 (int), as ${within}${job}`;
      assertEquals(after!.split(folded).length, 8, stdout);
    }
  });
});

Deno.test("load jobs that fail on one request show it once", async () => {
  await using server = withServer(() => Response.json({ error: "boom" }, { status: 500 }));
  const jobs = ["A", "B", "C"].map((name) => `
  - name: ${name}
    load: { users: 1, for: 100ms }
    steps:
      - name: get it
        uses: http
        with: { get: "${server.url}/orders" }
        test: res.code == 200
`);
  await withFiles({ "w.yml": `name: n\njobs:${jobs.join("")}` }, async (cwd) => {
    const { stdout } = await runMain(["w.yml"], { cwd });
    assertEquals(stdout.split("reproduce with:").length, 2, stdout);
    assertEquals(stdout.match(/test is false: .*, as in get it of [ABC]$/gm)?.length, 2);
  });
});
