import { assertEquals, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import { CHECKS } from "../../src/check/checks.ts";
import { FINDING_FORMATS } from "../../src/check/formats.ts";
import { COMMANDS } from "../../src/cli/registry.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";
import { check, steps } from "./workflows.ts";

const vars = (text: string) => steps(["with: { all: '{{vars}}' }"], `vars: { ${text} }`);
const header = (text: string) => steps([`with: { headers: { ${text} } }, test: true`]);

// Put together here, so that no other tool takes this file for one that holds secrets.
const GITHUB = ["ghp", "Zk3vQ8sT1uW5xY7zA9bC2dE4fG6hJ0kL"].join("_");
const AWS = "AKIA" + "ZQ3DRSTUVWXY2345";
const SLACK = ["xoxb", "123456789012", "abcdefABCDEF"].join("-");
const STRIPE = ["sk", "live", "4eC39HqLyjWDarjtT1zdp7dc"].join("_");
const JWT = ["eyJhbGciOiJIUzI1NiJ9", "eyJzdWIiOiIxMjM0NTY3ODkwIn0", "c2lnbmF0dXJl"].join(".");

Deno.test("a secret that is written literally is a warning", () =>
  check(["literal-secret"], [
    [
      vars("password: ¦hunter22"),
      'warning literal-secret: "password" holds a hard-coded secret (read it from the environment: password: "{{PASSWORD}}")',
    ],
    [
      vars("shop: { apiKey: ¦a1b2c3d4e5 }"),
      'warning literal-secret: "apiKey" holds a hard-coded secret (read it from the environment: apiKey: "{{API_KEY}}")',
    ],
    [
      header("Authorization: ¦Bearer abc123def"),
      'warning literal-secret: the header "Authorization" holds a hard-coded secret (read it from the environment, in the vars of the workflow: "{{TOKEN}}")',
    ],
    [
      header("authorization: ¦Basic dXNlcjpwYXNz"),
      'warning literal-secret: the header "authorization" holds a hard-coded secret (read it from the environment, in the vars of the workflow: "{{TOKEN}}")',
    ],
    [
      header("X-Api-Key: ¦0a1b2c3d4e"),
      'warning literal-secret: "X-Api-Key" holds a hard-coded secret (read it from the environment, in the vars of the workflow: "{{X_API_KEY}}")',
    ],
    [
      steps(["vars: { token: ¦abcdef123 }, test: vars.token != nil"]),
      'warning literal-secret: "token" holds a hard-coded secret (read it from the environment, in the vars of the workflow: "{{TOKEN}}")',
    ],
    [
      steps(["iteration: [{ password: ¦swordfish }], test: vars.password != nil"]),
      'warning literal-secret: "password" holds a hard-coded secret (read it from the environment, in the vars of the workflow: "{{PASSWORD}}")',
    ],
    // A value that looks like a token is one in any place.
    [
      vars(`a: ¦${GITHUB}, b: ¦${AWS}, c: ¦${SLACK}, d: ¦${STRIPE}, e: ¦${JWT}`),
      ...[
        ["a GitHub token", "a", "A"],
        ["an AWS access key", "b", "B"],
        ["a Slack token", "c", "C"],
        ["a Stripe key", "d", "D"],
        ["a JSON Web Token", "e", "E"],
      ].map(([what, name, variable]) =>
        `warning literal-secret: this is ${what} (read it from the environment: ${name}: "{{${variable}}}")`
      ),
    ],
    [
      steps([
        `uses: shell, with: { cmd: 'curl -H "Authorization: Bearer ¦0123456789abcdef0123"' }, test: true`,
      ]),
      'warning literal-secret: this is a bearer token (read it from the environment, in the vars of the workflow: "{{CMD}}")',
    ],
    [
      steps([`test: res.token != "¦${GITHUB}"`]),
      'warning literal-secret: this is a GitHub token (read it from the environment, in the vars of the workflow: "{{TEST}}")',
    ],
    [
      vars(`token: "{{TOKEN ?? '¦${GITHUB}'}}"`),
      'warning literal-secret: this is a GitHub token (read it from the environment: token: "{{TOKEN}}")',
    ],
    [
      "name: x\nvars:\n  cert: ¦|\n    -----BEGIN RSA PRIVATE KEY-----\n    MIIEow\n    -----END RSA PRIVATE KEY-----\njobs: [{name: a, steps: [{uses: hello, with: {c: '{{vars.cert}}'}}]}]\n"
        .replace("¦|\n    ", "|\n    ¦"),
      'warning literal-secret: this is a private key (read it from the environment: cert: "{{CERT}}")',
    ],
    // In defaults it is reported once, where it is written.
    [
      "name: x\njobs:\n- name: a\n  defaults: {hello: {headers: {authorization: ¦Bearer 12345678}}}\n  steps: [{uses: hello}, {uses: hello}]\n",
      'warning literal-secret: the header "authorization" holds a hard-coded secret (read it from the environment, in the vars of the workflow: "{{TOKEN}}")',
    ],
  ]));

Deno.test("text about secrets, or values from elsewhere, are not secrets", () =>
  check(["literal-secret"], [
    [vars(`password: "{{PASSWORD}}", token: "{{TOKEN ?? 'none'}}"`)],
    [vars("password: '', token: null, secret: true, auth: 12345678")],
    [vars(
      "token_url: https://example.test/oauth, token_type: bearer, key_id: abc12345, secretName: db",
    )],
    [vars("password: wrong-password, token: invalid, api_key: <your key>, secret: changeme")],
    [vars("key: red-flowers, auth: basic, pass: the first one, primary_key: identifier")],
    [vars("key: /etc/ssl/server.pem, token: ./token.txt, secret: xxxxxxxx")],
    [vars("max_tokens: 1000, tokens: [first, second], monkey: bananas1")],
    [vars("text: Bearer of bad news, more: the bearer is trustworthy-and-known")],
    [header("Authorization: 'Bearer {{vars.a}}', accept: application/json, cookie: theme=dark")],
    [header("Authorization: Bearer wrong")],
    [steps(["test: res.password == 'hunter22'"])],
    ["name: x\ndescription: password\njobs: [{name: password, id: token, steps: [{uses: hello, id: secret}]}]\n"],
  ]));

const LEAKY = `name: x
vars:
  password: hunter22
  secret: password
  token: "tok-123-456"
  fine: "{{ hunter22 }"
jobs:
  - name: a
    steps:
      - uses: hello
        wait: hunter22
        with: { to: "tok-123-456 {{vars.nope}}", headers: { Authorization: Bearer ${GITHUB} } }
`;

for (const format of ["text", "json", "github"]) {
  Deno.test(`no secret of a file is printed as ${format}`, () =>
    withFiles({ "flow.yml": LEAKY }, async (cwd) => {
      const { code, stdout, stderr } = await runMain(
        ["check", "--format", format, "flow.yml"],
        { cwd },
      );
      assertEquals([code, stderr], [1, ""]);
      for (const secret of ["hunter22", "tok-123-456", GITHUB, GITHUB.slice(4)]) {
        assertEquals(stdout.includes(secret), false, `${secret} in\n${stdout}`);
      }
      // The position is correct, and a secret that is a common word does not hide the word.
      assertStringIncludes(stdout, "password");
      assertStringIncludes(stdout, "holds a hard-coded secret");
    }));
}

Deno.test("the mark stays under a secret that is hidden", () =>
  withFiles({ "flow.yml": LEAKY }, async (cwd) => {
    const { stdout } = await runMain(["check", "flow.yml"], { cwd });
    assertStringIncludes(
      stdout,
      `flow.yml:3:13: warning: "password" holds a hard-coded secret
  3 |   password: ***
    |             ^^^ read it from the environment`,
    );
    assertStringIncludes(stdout, `  4 |   secret: ***\n`);
  }));

Deno.test("load errors of no command show a secret of the file", () =>
  withFiles({
    "flow.yml": "name: x\nvars: { password: literalpw99 }\njobs:\n- name: a\n  steps:\n" +
      '  - uses: hello\n    test: vars.password == "literalpw99" and (\n',
    "d/flow.yml": "name: x\nvars: { password: literalpw99 }\njobs:\n- name: a\n  steps:\n" +
      '  - uses: hello\n    test: vars.password == "literalpw99" and (\n',
  }, async (cwd) => {
    for (
      const args of [[], ["--dry-run"], ["--list"], ["dag"], ["export", "github"], ["prepare"]]
    ) {
      const out = args[0] === "prepare" ? ["--out", "r.json"] : [];
      const { stdout, stderr } = await runMain([...args, "flow.yml", ...out], { cwd });
      assertEquals((stdout + stderr).includes("literalpw99"), false, args[0]);
      assertStringIncludes(stderr, 'vars.password == "***" and (');
    }
    const { stdout, stderr: said } = await runMain(["d", "--report", "github"], { cwd });
    assertEquals((stdout + said).includes("literalpw99"), false);
    const url = "name: x\nvars: { at: 'postgres://me:literalpw99@db/x' }\njobs: literalpw99\n";
    await Deno.writeTextFile(`${cwd}/flow.yml`, url);
    const { stderr } = await runMain(["flow.yml"], { cwd });
    assertStringIncludes(stderr, "\n  3 | jobs: ***\n");
  }));

Deno.test("invalid YAML shows no token either", () =>
  withFiles({ "flow.yml": `name: x\n  token: ${GITHUB}\n` }, async (cwd) => {
    const { code, stdout, stderr } = await runMain(["check", "flow.yml"], { cwd });
    assertEquals(code, 1);
    assertStringIncludes(stdout, "***");
    assertEquals((stdout + stderr).includes(GITHUB), false);
  }));

const ROOT = fromFileUrl(new URL("../../", import.meta.url));

interface Finding {
  readonly file: string;
  readonly line: number;
  readonly severity: string;
  readonly code: string;
}

async function findIn(...paths: readonly string[]): Promise<readonly Finding[]> {
  const { stdout, stderr } = await runMain(["check", "--format=json", ...paths], { cwd: ROOT });
  assertEquals(stderr, "");
  return JSON.parse(stdout);
}

const CODES = CHECKS.flatMap(({ codes }) => codes.map(({ code }) => code));

Deno.test("the examples have no mistakes", async () => {
  const merged = "examples/merge/shared.yml,examples/merge/checks.yml";
  const found = await findIn("examples/*.yml", merged);
  assertEquals(found.map(({ file, severity, code }) => `${file} ${severity} ${code}`), []);
});

Deno.test("no workflow that runs well has an error", async () => {
  const directory = `${ROOT}tests/conformance`;
  const good = [...Deno.readDirSync(directory)].map(({ name }) => name).filter((name) =>
    hasWorkflow(`${directory}/${name}`) && !hasArguments(`${directory}/${name}`) &&
    Deno.readTextFileSync(`${directory}/${name}/expected.txt`).endsWith("exit 0\n")
  );
  assertEquals(good.length >= 20, true);
  const found = await findIn(...good.map((name) => `tests/conformance/${name}/workflow.yml`));
  assertEquals(found.filter(({ severity }) => severity === "error"), []);
  // These have each what they are about.
  const warned = found.filter(({ severity, code }) =>
    severity === "warning" && CODES.includes(code)
  );
  assertEquals(
    warned.map(({ file, line, code }) => `${file.split("/").at(-2)}:${line} ${code}`).sort(),
    [
      "durations_are_texts_or_numbers_of_seconds:12 pointless-retry",
      "durations_are_texts_or_numbers_of_seconds:43 pointless-retry",
      "repeat_runs_a_job_several_times:24 no-rounds",
    ],
  );
});

function hasWorkflow(directory: string): boolean {
  return [...Deno.readDirSync(directory)].some(({ name }) => name === "workflow.yml");
}

function hasArguments(directory: string): boolean {
  return [...Deno.readDirSync(directory)].some(({ name }) => name === "args" || name === "env");
}

Deno.test("every check has its own codes, each with a sentence", () => {
  assertEquals(new Set(CODES).size, CODES.length);
  for (const { code, summary } of CHECKS.flatMap(({ codes }) => codes)) {
    assertEquals(/^[a-z]+(?:-[a-z]+)+$/.test(code) && /^[A-Z].*\.$/.test(summary), true, code);
  }
});

Deno.test("the command line knows the formats that there are", () => {
  const { options = [] } = COMMANDS.find(({ name }) => name === "check") ?? {};
  const { choices } = options.find(({ name }) => name === "format") ?? {};
  assertEquals(choices, FINDING_FORMATS.map(({ name }) => name));
});
