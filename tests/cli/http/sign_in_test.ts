import { assertEquals, assertStringIncludes } from "@std/assert";
import { digestServer } from "../../support/servers/digest_server.ts";
import { runMain } from "../../support/run/run_main.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";

async function run(steps: string, args: readonly string[] = [], env = {}) {
  const workflow = `name: w\njobs:\n  - name: j\n    steps:\n${
    steps.replace(/^(?=.)/gm, "      ")
  }`;
  return await withFiles({ "w.yml": workflow }, (cwd) => runMain([...args, "w.yml"], { cwd, env }));
}

Deno.test("nothing of a sign-in is in reports, and the curl command signs in by itself", async () => {
  await using server = digestServer({ algorithm: "SHA-256", qop: "auth" }, "ann@example.com");
  const { code, stdout } = await run(
    `
- name: signed in
  uses: http
  with: { get: ${server.url}, auth: { digest: { username: ann@example.com, password: '${server.password}' } } }
  echo: "{{req}} {{res}}"
  test: res.code == 500
`,
    ["-v"],
  );
  assertEquals(code, 1);
  assertStringIncludes(stdout, "curl -L --digest -u '***:***'");
  for (const secret of [server.password, "ann@example.com", "response="]) {
    assertEquals(stdout.includes(secret), false, `${secret} is in ${stdout}`);
  }
});

Deno.test("a token endpoint that --allow-net does not name is not asked", async () => {
  let asked = 0;
  await using server = withServer(() => {
    asked++;
    return Response.json({ access_token: "access-token-1" });
  });
  const { code, stdout } = await run(
    `
- name: api
  uses: http
  with:
    get: http://localhost:${server.port}/
    auth: { oauth2: { token_url: "${server.url}/token", client_id: c, client_secret: secret-1 } }
  test: res.code == 200
`,
    ["--allow-net", "localhost"],
  );
  assertEquals([code, asked], [1, 0]);
  assertStringIncludes(stdout, `cannot send POST "${server.url}/token"`);
  assertStringIncludes(stdout, "--allow-net does not name");
});

Deno.test("check finds a sign-in of a wrong shape where it is", async () => {
  const workflow = `name: w
jobs:
  - name: j
    defaults: { http: { url: "http://localhost", auth: { basic: { username: a } } } }
    steps:
      - { name: s, uses: http, with: { get: / }, test: res.code == 200 }
`;
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const { code, stdout, stderr } = await runMain(["check", "w.yml"], { cwd });
    assertEquals(code, 1);
    assertStringIncludes(stdout + stderr, '"auth.basic" needs "password"');
  });
});
