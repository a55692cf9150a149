import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { assertHidden } from "../../support/assert_hidden.ts";
import { withRig } from "../../support/run/rig.ts";
import { runMain } from "../../support/run/run_main.ts";
import { readDirectory, REPORT_FILES } from "../../support/run/run_reports.ts";
import { withFiles } from "../../support/temp_dir.ts";

const CHARACTERS = [..."abcdefXYZ0189 -_.~!*'()+/=&<>\"\\%#?:@;,$[]{}|^é漢"];

/** Numbers that look random and are the same in every run. */
function random(seed: number): () => number {
  return () => {
    seed = (seed * 1664525 + 1013904223) >>> 0;
    return seed / 2 ** 32;
  };
}

function randomSecret(next: () => number): string {
  const length = 8 + Math.floor(next() * 20);
  const pick = () => CHARACTERS[Math.floor(next() * CHARACTERS.length)]!;
  return `s${Array.from({ length }, pick).join("")}x`;
}

/** Every way to write a secret that a report could be searched for. */
function forms(secret: string): string[] {
  const html = secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    JSON.stringify(secret).slice(1, -1).replaceAll("<", "\\u003c"),
    html,
    html.replaceAll('"', "&quot;"),
    ...["", "a", "ab"].map((before) => base64Of(before, secret)),
  ];
}

/** Returns the part of the base64 text after a prefix that depends on the secret alone. */
function base64Of(before: string, secret: string): string {
  const bytes = new TextEncoder().encode(before + secret);
  const encoded = btoa(String.fromCharCode(...bytes)).replace(/=+$/, "");
  return encoded.slice(before === "" ? 0 : 4, -2);
}

const WORKFLOW = `
name: "secrets {{vars.token}}"
vars:
  token: "{{API_TOKEN}}"
  plain: "{{MY_PASSWORD}}"
  private: "{{PRIVATE_KEY}}"
  auth: { user: "in-a-map-{{SUFFIX}}", list: ["in-a-list-{{SUFFIX}}"] }
jobs:
  - name: "job {{vars.token}}"
    steps:
      - name: "shell {{vars.plain}}"
        uses: shell
        with:
          cmd: |
            printf '%s\\n' "$API_TOKEN" "$MY_PASSWORD" "$PRIVATE_KEY"
            printf '%s' "$API_TOKEN$API_TOKEN$API_TOKEN" | base64
            printf '%s' "$PRIVATE_KEY" | base64 -w 64
            printf '%s' "a$MY_PASSWORD" | base64 -w0
            printf '%s' "ab$MY_PASSWORD" | base64 -w0
        test: res.stdout == vars.token
        echo: "{{res.stdout}} {{vars.token}} {{vars.plain}} {{vars.auth}} {{vars.private}}"
      - name: headers, query and body
        uses: http
        with:
          post: "{url}/echo"
          query: { q: "{{vars.token}}", list: "{{vars.auth.list}}" }
          headers:
            authorization: "Bearer {{vars.token}}"
            x-other: "{{toBase64(vars.token)}}"
          body: { token: "{{vars.token}}", text: "<{{vars.plain}}>", auth: "{{vars.auth}}" }
        test: res.body == vars.token
        echo: "{{res.body}}"
      - name: what it publishes, "{{vars.token}}"
        id: published
        uses: http
        with: { post: "{url}/echo", body: { token: "{{vars.token}}" } }
        outputs: { code: res.body.body, list: "[vars.plain, vars.private]" }
        test: res.code == 200
        echo: "{{outputs.code}} {{outputs.list}}"
      - name: a difference
        uses: http
        with: { post: "{url}/echo", body: { a: 1, token: "{{vars.token}}" }, headers: { x-a: "{{vars.plain}}" } }
        test: 'res.body == {"headers": {"x-a": vars.token}, "body": vars.private, "list": [vars.plain]}'
      - name: attempts
        uses: shell
        with: { cmd: "echo {{toBase64(vars.token)}}; exit 1" }
        test: res.stdout == vars.plain
        retry: { max_attempts: 2 }
      - name: inside
        uses: embedded
        with: { path: job.yml, vars: { given: "{{vars.token}}", text: "{{vars.plain}}" } }
      - name: entries
        uses: echo
        iteration: [{ text: "{{vars.token}}" }, { text: "{{vars.plain}}" }]
        with: { message: "{{vars.text}}" }
        test: res.message == "x" + vars.text
      - name: a url
        uses: http
        with: { get: "{url}/echo", query: { q: "{{vars.plain}}", r: "{{vars.private}}" } }
        test: res.body.url contains vars.token
      - name: basic credentials, in a header and in a URL
        vars: { pair: "me:basic-in-header-{{vars.auth.user}}" }
        uses: http
        with:
          get: "{url}/echo"
          headers: { authorization: "Basic {{toBase64(vars.pair)}}" }
        test: res.body == vars.pair
        echo: "{{res.body}}"
      - uses: http
        with: { get: "{account}/echo" }
        test: res.body == "url-password"
        echo: "url-password {{res.body}}"
      - name: cookies
        uses: http
        with: { get: "{url}/echo", headers: { cookie: "lang=de; sid=sid-of-11" } }
        test: res.body == "sid-of-11"
        echo: "sid-of-11"
      - name: variables of a command
        uses: shell
        with: { cmd: 'echo $DB_PASS; exit 1', env: { DB_PASS: "in-shell-env" } }
        test: res.stdout == "in-shell-env"
        echo: "in-shell-env"
      - name: an error
        uses: shell
        with: { cmd: "true", workdir: "/nowhere/{{vars.plain}}" }
      - name: another
        uses: http
        with: { get: "{url}/x", timeout: "{{vars.token}}" }
  - name: "{{vars.auth.user}}"
    skipif: "true"
    steps: [{ uses: hello }]
  - name: broken
    skipif: len(vars.token) + vars.plain
    steps: [{ uses: hello, name: "never {{vars.token}}" }]
`;

const JOB = `name: "{{vars.given}}"
steps:
  - name: "{{vars.given}} {{vars.text}}"
    uses: echo
    with: { message: "{{vars.given}}" }
    test: res.message == vars.text
    echo: "{{res.message}} {{vars.text}}"
    outputs: { said: res.message }
    id: said
`;

/** The secrets of the workflow besides the environment. */
const OWN = [
  "in-a-map-123",
  "in-a-list-123",
  "basic-in-header",
  "url-password",
  "sid-of-11",
  "in-shell-env",
];

const MODES = [[], ["-v", "--timing"], ["--quiet"], ["-v", "--report", "json=-"]] as const;

Deno.test("no secret is in any report, in any encoding", async () => {
  const next = random(42);
  await withRig(async (rig) => {
    const account = rig.url.replace("://", "://me:url-password@");
    const workflow = WORKFLOW.replaceAll("{url}", rig.url).replaceAll("{account}", account);
    await withFiles({ "w.yml": workflow, "job.yml": JOB }, async (cwd) => {
      for (let round = 0; round < 8; round++) {
        const lines = [1, 2, 3].map(() => randomSecret(next).replace(/[^\x20-\x7e]/g, "e"));
        const secrets = {
          API_TOKEN: randomSecret(next),
          MY_PASSWORD: randomSecret(next).replace(/[^\x20-\x7e]/g, "e"),
          PRIVATE_KEY: lines.join("\n"),
        };
        const directory = `${cwd}/reports${round}`;
        const args = [...MODES[round % MODES.length]!, "--report-dir", directory, "w.yml"];
        const summary = { GITHUB_ACTIONS: "true", GITHUB_STEP_SUMMARY: `${directory}/github.md` };
        const env = { ...secrets, ...summary, SUFFIX: "123" };
        const { code, stdout, stderr } = await runMain(args, { cwd, env });
        assertEquals(code, 1);
        const reports = readDirectory(directory);
        assertEquals(Object.keys(reports).length, REPORT_FILES.length + 1, stderr);
        const texts = { stdout, stderr, ...reports };
        for (const [name, text] of Object.entries(texts)) {
          if (name !== "stderr") assertStringIncludes(decodeAll(text), "***", name);
          for (const secret of [...Object.values(secrets), ...lines, ...OWN]) {
            for (const form of forms(secret)) assertHidden(form, text, name);
            assertHidden(secret, decodeAll(text), `${name}, decoded`);
          }
        }
      }
    });
  });
});

/** A text without the escapes of XML, HTML, Markdown, JSON, TAP and GitHub. */
function decodeAll(text: string): string {
  const names: Readonly<Record<string, string>> = { amp: "&", lt: "<", gt: ">", quot: '"' };
  return text
    .replace(/&#(\d+);/g, (_, code) => String.fromCodePoint(Number(code)))
    .replace(/&(amp|lt|gt|quot);/g, (_, name) => names[name]!)
    .replace(/\\u([0-9a-f]{4})/g, (_, code) => String.fromCharCode(parseInt(code, 16)))
    .replace(/\\n/g, "\n").replace(/\\(["\\#])/g, "$1")
    .replaceAll("%0A", "\n").replaceAll("%25", "%");
}

Deno.test("the names of the steps of a repeated job have no secrets in any report", async () => {
  const steps = ["get {{vars.token}} {{repeat_index}}", "same {{vars.token}}", "{{vars.token}}"]
    .map((name) => `{ uses: hello, name: "${name}", test: true }`);
  const workflow = `name: n
vars: { token: "{{API_TOKEN}}" }
jobs: [{ name: j, repeat: { count: 30 }, steps: [${steps.join(", ")}] }]
`;
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const env = { API_TOKEN: "sup3r-s3cret" };
    const formats = ["json", "junit", "html", "tap", "ctrf", "markdown", "prometheus"];
    const args = formats.flatMap((format) => ["--report", `${format}=${format}.txt`]);
    const { code, stdout } = await runMain(["w.yml", ...args], { cwd, env });
    assertEquals(code, 0);
    assertStringIncludes(stdout, "get *** … (repeating 30 times)");
    assertHidden("sup3r-s3cret", stdout, "text");
    for (const format of formats) {
      const text = await Deno.readTextFile(`${cwd}/${format}.txt`);
      assertHidden("sup3r-s3cret", text, format);
    }
  });
});

Deno.test("the causes of failures of a load job have no secrets, also without their digits", async () => {
  const workflow = `name: n
vars: { token: "{{API_TOKEN}}" }
jobs:
  - name: j {{vars.token}}
    load: { users: 1, count: 5, expect: [{ that: stats.count == 9, says: "t {{vars.token}}" }] }
    steps: [{ uses: hello, name: "s {{vars.token}}", test: { that: "false", says: "x {{vars.token}}" } }]
`;
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const env = { API_TOKEN: "sup3r-s3cret" };
    const args = [
      "--report-dir",
      "R",
      "--report",
      "prometheus=R/m.prom",
      "--history",
      "R/h",
      "w.yml",
    ];
    const { code, stdout } = await runMain(args, { cwd, env });
    assertEquals(code, 1);
    const files = { ...readDirectory(`${cwd}/R`), ...readDirectory(`${cwd}/R/h`) };
    const texts = [stdout, ...Object.values(files)];
    assertEquals(texts.length, 10);
    for (const text of texts) assertEquals(/sup\dr-s\dcret/.exec(text), null);
    assertStringIncludes(texts.join(), "x ***");
  });
});

Deno.test("a secret that is a word of the program itself changes nothing but its own text", async () => {
  const workflow = `name: n
jobs:
  - name: first
    id: message
    steps:
      - { uses: hello, test: "true", echo: hi }
      - { uses: hello, skipif: "true" }
      - { uses: shell, with: { cmd: exit 1 } }
  - { name: second, id: result, needs: [message], steps: [{ uses: hello, test: res == 1 }] }
  - { name: third, id: failed, needs: [result], steps: [{ uses: hello }] }
`;
  const examples = [
    "failed",
    "passed",
    "result",
    "message",
    "step_finished",
    "test",
    "skipped",
    "error",
    "name",
    "untested",
    "expression",
  ];
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const summary = (text: string) => /^Steps {6}.*$/m.exec(text)?.[0];
    const plain = await runMain(["w.yml"], { cwd });
    assertEquals(plain.code, 1);
    assert(summary(plain.stdout));
    for (const word of examples) {
      for (const args of [["w.yml"], ["-v", "w.yml"]]) {
        const { code, stdout, stderr } = await runMain(args, { cwd, env: { API_KEY: word } });
        assertEquals([code, summary(stdout)], [1, summary(plain.stdout)], word);
        assert(!(stdout + stderr).includes("internal error"), stdout + stderr);
      }
    }
    const { code } = await runMain(["w.yml"], { cwd, env: { A_KEY: "result", B_KEY: "message" } });
    assertEquals(code, 1);
  });
});

Deno.test("a body that looks like a place in a file is data", async () => {
  const body = '{"text": 1, "from": "a", "to": [], "line": null}';
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response(body, { headers: { "content-type": "application/json" } }),
  );
  const workflow = `name: n
jobs:
  - name: j
    steps:
      - { uses: http, with: { get: "http://127.0.0.1:${server.addr.port}/" }, test: res.body == 1 }
`;
  try {
    await withFiles({ "w.yml": workflow }, async (cwd) => {
      const { code, stdout } = await runMain(["w.yml"], { cwd, env: { API_KEY: "something" } });
      assertEquals(code, 1);
      assertStringIncludes(stdout, '"from": "a"');
    });
  } finally {
    await server.shutdown();
  }
});

Deno.test("ordinary values stay readable beside secrets", async () => {
  const workflow =
    'name: n\njobs:\n  - name: j\n    steps:\n      - uses: hello\n        echo: "ann"\n';
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const env = { GIT_AUTHOR_NAME: "ann", SHORT_KEY: "ann" };
    const { stdout } = await runMain(["w.yml"], { cwd, env });
    assertStringIncludes(stdout, "ann");
    assert(!stdout.includes("***"));
  });
});

Deno.test("cookies that a server sets are secrets from then on", async () => {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response("hi", { headers: { "set-cookie": "session=abc123; Path=/" } }),
  );
  const workflow = `name: n
jobs:
  - name: j
    steps:
      - id: login
        uses: http
        with: { get: "http://127.0.0.1:${server.addr.port}/" }
        outputs: { cookie: 'res.headers["Set-Cookie"]' }
        test: "false"
        echo: "{{res.cookies}}"
      - uses: http
        with:
          get: "http://127.0.0.1:${server.addr.port}/"
          headers: { cookie: "{{split(outputs.cookie, ';')[0]}}" }
        test: "false"
        echo: "{{req.headers}}"
`;
  try {
    await withFiles({ "w.yml": workflow }, async (cwd) => {
      const { stdout, stderr } = await runMain(["-v", "w.yml"], { cwd });
      assertStringIncludes(stdout, "***");
      assert(!(stdout + stderr).includes("abc123"), stdout + stderr);
    });
  } finally {
    await server.shutdown();
  }
});

const REST = "\njobs: [{name: j, steps: [{uses: hello}]}]\n";

/** Files with a mistake in a line that contains a secret, by kind of mistake. */
const FILES: Readonly<Record<string, string>> = {
  "an expression": `name: n\nvars: {api_token: hunter22-x, bad: "{{ nope( }}"}${REST}`,
  "an expression in JSON": JSON.stringify({
    vars: { api_token: "hunter22-x", bad: "{{ nope( }}" },
    name: "n",
    jobs: [{ name: "j", steps: [{ uses: "hello" }] }],
  }),
  "a bracket": `name: n\nvars: {'db_password': "hunter22 {[,}\\" x", bad: ]${REST}`,
  "a tab": `name: n\nvars:\n\tapi_token: hunter22-x${REST}`,
  "a key that is there twice":
    `name: n\nvars:\n  api_token: hunter22, x\n  api_token: hunter22, x # no${REST}`,
  "a list": `name: n\nvars: [{api_token: hunter22-x}]${REST}`,
  "a duration beside a URL":
    `name: n\njobs: [{name: j, steps: [{uses: http, with: {get: "http://u:hunter22@h", timeout: x}}]}]\n`,
  "a URL":
    `name: n\njobs: [{name: j, steps: [{uses: http, with: {get: "http://u:hunter22@[h"}}]}]\n`,
  "a duration beside a header":
    `name: n\njobs: [{name: j, steps: [{uses: http, with: {get: "http://h", headers: {authorization: Bearer hunter22-x}, timeout: x}}]}]\n`,
};

Deno.test("no secret of a file is shown with its mistakes", async (test) => {
  for (const [mistake, text] of Object.entries(FILES)) {
    await test.step(mistake, () =>
      withFiles({ "w.yml": text }, async (cwd) => {
        const commands = [["w.yml"], ["check", "w.yml"], ["dag", "w.yml"], ["--dry-run", "w.yml"]];
        for (const args of commands) {
          const { stdout, stderr } = await runMain(args, { cwd });
          assertStringIncludes(stdout + stderr, "***");
          assert(!(stdout + stderr).includes("hunter"), stdout + stderr);
        }
        const github = await runMain(["w.yml"], { cwd, env: { GITHUB_ACTIONS: "true" } });
        assert(!(github.stdout + github.stderr).includes("hunter"), github.stderr);
      }));
  }
});

Deno.test("the line of a mistake stays readable around secrets", async () => {
  const lines = [
    "name: n",
    "jobs:",
    "- name: j",
    "  steps:",
    "  - uses: http",
    "    with:",
    '      get: "http://u:{{vars.password}}@h/{{ x( }}"',
    '      headers: { authorization: "Bearer {{ vars.token( }}", x-key: timeout }',
    "      timeout: timeout",
    "    outputs:",
    "      token: res.body.data.token )",
    '      password: trim(res.headers["X-Password"] )) # the new one',
  ];
  await withFiles({ "w.yml": lines.join("\n") }, async (cwd) => {
    const { stderr } = await runMain(["w.yml"], { cwd });
    for (const line of lines.slice(6, 9).concat(lines.slice(-2))) {
      assertStringIncludes(stderr, line);
    }
  });
});

Deno.test("--secret-command gives the secret variables that the environment lacks", () =>
  withFiles({
    "suite.yml": 'workflows: [a.yml, b.yml]\nvars: { pw: "{{DB_PASSWORD}}" }\n',
    "a.yml": `name: A
vars: { token: "{{API_TOKEN}}", key: "{{SHOP_KEY ?? 'none'}}", host: "{{DB_HOST ?? 'local'}}" }
jobs:
  - name: J
    steps:
      - uses: echo
        with: { message: "{{vars.token}} {{vars.key}} {{vars.host}} {{vars.pw ?? ''}}" }
        echo: "is {{res.message}}"
        test: res.message startsWith "secret-of-API_TOKEN from-environment local"
`,
    "b.yml": `name: B
vars: { token: "{{API_TOKEN}}" }
jobs:
  - name: J
    steps: [{ uses: hello, test: "vars.pw == 'secret-of-DB_PASSWORD' && vars.token != nil" }]
`,
  }, async (cwd) => {
    const env = { SHOP_KEY: "from-environment" };
    const ask = ["--secret-command", "echo {name} >> asked; echo secret-of-{name}"];
    const one = await runMain([...ask, "a.yml"], { cwd, env });
    assertEquals([one.code, one.stderr], [0, ""], one.stdout);
    assertStringIncludes(one.stdout, "is *** *** local");
    const all = await runMain([...ask, "suite.yml"], { cwd, env });
    assertEquals([all.code, all.stderr], [0, ""], all.stdout);
    assertHidden("secret-of", one.stdout + all.stdout, "stdout");
    const asked = await Deno.readTextFile(`${cwd}/asked`);
    assertEquals(asked.trim().split("\n"), ["API_TOKEN", "DB_PASSWORD", "API_TOKEN"]);
    assertEquals((await runMain([...ask, "--list", "a.yml"], { cwd, env })).code, 0);
    assertEquals(await Deno.readTextFile(`${cwd}/asked`), asked);

    const failing = ["--secret-command", "echo {name} is locked >&2; exit 3", "a.yml"];
    const locked = await runMain(failing, { cwd, env });
    assertEquals([locked.code, locked.stdout], [1, ""]);
    assertStringIncludes(locked.stderr, "--secret-command cannot read API_TOKEN: exit code 3");
    assertStringIncludes(locked.stderr, "API_TOKEN is locked");
    const nothing = await runMain(["--secret-command", "true {name}", "a.yml"], { cwd, env });
    assertStringIncludes(nothing.stderr, "cannot read API_TOKEN: it printed nothing");
    const unnamed = await runMain(["--secret-command", "true", "a.yml"], { cwd, env });
    assertStringIncludes(unnamed.stderr, "--secret-command needs {name}");
  }));
