import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { assertHidden } from "../../support/assert_hidden.ts";
import { runCli } from "../../support/run/run_cli.ts";
import { runMain } from "../../support/run/run_main.ts";
import { readDirectory } from "../../support/run/run_reports.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { withFiles } from "../../support/temp_dir.ts";

Deno.test("a cut output shows no half of a secret", async () => {
  for (const secret of ["supersecret", "super secret words"]) {
    for (const [before, after] of [["", "\\n1234567"], ["{\\042a\\042:\\042", "\\0421234567"]]) {
      const workflow = `name: n
vars: { token: "{{A_TOKEN}}" }
jobs:
  - name: j
    steps:
      - uses: shell
        with:
          cmd: printf '${before}%s${after}' "$A_TOKEN"
          env: { A_TOKEN: "{{vars.token}}" }
          max_output: 14
        test: "false"
        echo: "{{res.stdout}}"
`;
      await withFiles({ "w.yml": workflow }, async (cwd) => {
        const { stdout } = await runMain(["-v", "w.yml"], { cwd, env: { A_TOKEN: secret } });
        assertStringIncludes(stdout, "1234567");
        assert(!/ret.?1234567|words.?1234567/.test(stdout), stdout);
      });
    }
  }
});

Deno.test("the output of a command before its timeout shows no part of a secret", async () => {
  const secret = Array.from({ length: 60 }, (_, line) => `line${line}`).join("\n");
  const workflow = `name: n
jobs:
  - name: j
    steps:
      - uses: shell
        with: { cmd: 'echo before; echo "$A_TOKEN"; exec sleep 60', timeout: 500ms }
`;
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const { stdout } = await runCli(["w.yml", "--report", "junit=j.xml"], {
      cwd,
      env: { A_TOKEN: secret },
    });
    assertStringIncludes(stdout, "stdout:\n            before\n            ***\n");
    assert(!(stdout + await Deno.readTextFile(`${cwd}/j.xml`)).includes("line5"), stdout);
  });
});

Deno.test("errors before a run show no secret, also where they are cut", async () => {
  const secret = "hunter22secret";
  const steps = (step: string) => `name: n\njobs:\n- name: j\n  steps:\n  - ${step}\n`;
  const files: Record<string, string> = {
    [`${secret}.yml`]: steps(`{uses: hello, ${secret}: 1}`).replace("hello", secret),
    "vars.yml": `${steps("{uses: hello}")}vars: {a: "{{ int('${secret}') }}"}\n`,
    "word.yml": steps(`{uses: hello, test: status ${secret}${secret}}`),
  };
  for (let before = 60; before < 100; before += 5) {
    const filler = "x".repeat(before);
    files[`a${before}.yml`] = steps(`{uses: hello, nane: "${filler}${secret}${filler}"}`);
    files[`b${before}.yml`] = steps(`{uses: hello, with: {a: "${secret}${filler}", b: "{{ x }}"}}`);
  }
  await withFiles(files, async (cwd) => {
    for (const file of [...Object.keys(files), `${secret}/missing.yml`]) {
      const { stderr } = await runMain([file], { cwd, env: { MY_TOKEN: secret } });
      assert(stderr.includes("error: ") || stderr.includes("warning: "), file);
      assert(!/hunt|ecret/.test(stderr), stderr);
    }
  });
});

Deno.test("what is said of invalid JSON quotes no part of it", async () => {
  const secret = "hunter2hunter2";
  const files = {
    "rows.json": `[{"a": 1, "b": ${secret}}]`,
    "rows.jsonl": `{"a": 1, "b": ${secret}}\n`,
    "w.yml": JSON.stringify({
      name: "n",
      vars: { token: "{{MY_TOKEN}}" },
      jobs: ["rows.json", "rows.jsonl"].map((file) => {
        return { name: file, steps: [{ uses: "hello", iteration: { file } }] };
      }),
    }),
  };
  await withFiles(files, async (cwd) => {
    const { code, stdout } = await runMain(["w.yml"], { cwd, env: { MY_TOKEN: secret } });
    assertEquals(code, 1);
    assertStringIncludes(stdout, `"rows.jsonl:1" is not valid JSON: unexpected "h"\n`);
    assert(!stdout.includes("hunter"), stdout);
  });
});

Deno.test("where a long line is cut, no piece of a secret is left", async () => {
  const secret = "hunter2-is-not-a-good-one";
  for (const filler of [secret, btoa(secret), "12345", ` ${secret} `]) {
    const text = filler.repeat(200).slice(0, 4000);
    const step = { uses: "hello", with: { a: text }, test: "1 == 2", vars: { b: text } };
    const job = { name: "j", steps: [step, { ...step, with: { [text]: 1 } }, step] };
    await withFiles({ "w.yml": JSON.stringify({ name: "n", jobs: [job] }) }, async (cwd) => {
      const args = ["--report-dir", "reports", "w.yml"];
      const { code, stdout, stderr } = await runMain(args, { cwd, env: { MY_TOKEN: secret } });
      assertEquals(code, 1);
      for (const text of [stdout, stderr, ...Object.values(readDirectory(`${cwd}/reports`))]) {
        for (const form of [secret, btoa(secret)]) {
          for (let at = 0; at + 8 <= form.length; at++) {
            assertHidden(form.slice(at, at + 8), text, filler);
          }
        }
      }
    });
  }
});

Deno.test("a secret that a report would put together of its parts is hidden in every report", async () => {
  const secret = "correct horse staple-9";
  const write = 'printf %s "$MY_TOKEN" | iconv -t';
  const commands = [
    `${write} UTF-16LE`,
    `${write} UTF-16BE`,
    `${write} UTF-32LE`,
    `echo "$MY_TOKEN" | tr ' ' '\\n'`,
    `echo "$MY_TOKEN" | sed 's/ /\\t  /g'`,
    `echo "$MY_TOKEN" | sed 's/o/o\\x08/g; s/r/r\\x01/g'`,
  ];
  for (const cmd of commands) {
    const steps = [
      {
        ...{ id: "s", name: "s", uses: "shell", echo: "{{res.stdout}}" },
        with: { cmd, env: { MY_TOKEN: "{{vars.token}}" } },
        test: 'res.stdout == "other"',
        outputs: { text: "res.stdout" },
      },
      { uses: "echo", name: "n {{outputs.text}}", with: { message: "m" }, test: "1 == 2" },
    ];
    const workflow = { name: "n", vars: { token: "{{MY_TOKEN}}" }, jobs: [{ name: "j", steps }] };
    await withFiles({ "w.yml": JSON.stringify(workflow) }, async (cwd) => {
      const args = ["--report-dir", "reports", "-v", "w.yml"];
      const { code, stdout, stderr } = await runMain(args, { cwd, env: { MY_TOKEN: secret } });
      assertEquals(code, 1);
      assertStringIncludes(stdout, "***");
      const files = { ...readDirectory(`${cwd}/reports`), stdout, stderr };
      for (const [name, text] of Object.entries(files)) {
        // deno-lint-ignore no-control-regex
        const joined = text.replace(/[\0-\x08\x0e-\x1f]|\\\\u00../g, "").replace(/\s+/g, " ");
        assertHidden(secret, joined, `${name} of ${cmd}`);
        assertHidden("horse", joined.replace(/[␀-␟\ufffd]/g, ""), `${name} of ${cmd}`);
      }
    });
  }
});

const TOKEN = "token-of-ann-0123456789";

const FLOW = `
name: Excerpts
vars: { token: "{{TOKEN}}", port: "{{PORT}}" }
jobs:
  - name: Long answers
    steps:
      - { uses: tcp, with: { host: 127.0.0.1, port: "{{vars.port}}", expect: nothing } }
`;

/** Answers of more than 200 characters, in which a secret goes over that end. */
const ANSWERS: readonly (readonly [what: string, answer: string])[] = [
  ["a known secret", `${"x".repeat(190)}${TOKEN} and more`],
  ["a secret by its name", `{"a": "${"x".repeat(165)}", "access_token": "${TOKEN}"}`],
];

for (const [what, answer] of ANSWERS) {
  Deno.test(`an error shows the beginning of an answer, and no part of ${what}`, async () => {
    using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const { port } = listener.addr as Deno.NetAddr;
    const served = (async () => {
      const connection = await listener.accept();
      await connection.write(new TextEncoder().encode(answer));
      connection.close();
    })();
    const env = { TOKEN: what === "a known secret" ? TOKEN : "", PORT: `${port}` };
    const { code, stdout } = await withFiles(
      { "flow.yml": FLOW },
      (cwd) => runMain(["flow.yml"], { cwd, env }),
    );
    await served;
    assertEquals(code, 1);
    assertStringIncludes(stdout, "xxxx");
    assertStringIncludes(stdout, "***");
    assertEquals(stdout.includes(TOKEN.slice(0, 6)), false, stdout);
  });
}

const API = `
openapi: 3.0.3
info: { title: Tokens, version: "1" }
paths:
  /token:
    get:
      responses:
        "200":
          description: a token
          content:
            application/json:
              schema:
                properties: { path: { type: integer }, access_token: { type: integer } }
`;

const CONTRACT = `
name: Contract
vars: { token: "{{TOKEN}}", url: "{{SERVER}}" }
jobs:
  - name: Values that are not as described
    steps:
      - { uses: http, with: { get: "{{vars.url}}/token", openapi: api.yml } }
`;

Deno.test("a violation of a contract shows the beginning of a value, and no part of a secret", async () => {
  const access_token = "issued-".repeat(20);
  const body = { path: `${"x".repeat(50)}${TOKEN}${"x".repeat(50)}`, access_token };
  await using server = withServer(() => Response.json(body));
  await withFiles({ "flow.yml": CONTRACT, "api.yml": API }, async (cwd) => {
    const { code, stdout } = await runMain(["flow.yml"], {
      cwd,
      env: { TOKEN, SERVER: server.url },
    });
    assertEquals(code, 1);
    assertStringIncludes(stdout, `body.path is "${"x".repeat(50)}***…, expected type integer`);
    assertStringIncludes(stdout, 'body.access_token is "***');
    assertEquals(stdout.includes("issued-"), false, stdout);
  });
});
