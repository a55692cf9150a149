import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";
import { withRig } from "../support/run/rig.ts";

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
      const [, command] = /reproduce with:\n([^]*?)\n {2}Failed/.exec(stdout) ?? [];
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

const GOOD_PFX = Deno.readFileSync(new URL("../fixtures/tls/good.p12", import.meta.url));

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
  for (const [parameters, words] of versions) {
    const made = await commandOf("{}", (url) => `{get: "${url}/x", ${parameters}}`);
    assertStringIncludes(made.command, `curl ${words} `);
  }
});
