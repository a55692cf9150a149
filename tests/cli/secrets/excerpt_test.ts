import { assertEquals, assertStringIncludes } from "@std/assert";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";

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
