import { assert, assertEquals, assertStringIncludes } from "@std/assert";
import { withRig } from "../support/rig.ts";
import { runCli } from "../support/run_cli.ts";
import { withFiles } from "../support/temp_dir.ts";

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
  const bytes = new TextEncoder().encode(secret);
  const base64 = btoa(String.fromCharCode(...bytes)).replace(/=+$/, "").slice(0, -1);
  return [
    secret,
    encodeURIComponent(secret),
    JSON.stringify(secret).slice(1, -1),
    base64,
    secret.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;"),
  ];
}

const WORKFLOW = `
name: "secrets {{vars.token}}"
vars:
  token: "{{API_TOKEN}}"
  plain: "{{MY_PASSWORD}}"
jobs:
  - name: "job {{vars.token}}"
    steps:
      - name: "shell {{vars.plain}}"
        uses: shell
        with:
          cmd: |
            printf '%s\\n' "$API_TOKEN" "$MY_PASSWORD"
            printf '%s' "$API_TOKEN" | base64
            printf '%s' "a$MY_PASSWORD" | base64 -w0
            printf '%s' "ab$MY_PASSWORD" | base64 -w0
        test: res.stdout == vars.token
        echo: "{{res.stdout}} {{vars.token}} {{vars.plain}}"
      - name: headers, query and body
        uses: http
        with:
          post: "{url}/echo"
          query: { q: "{{vars.token}}" }
          headers:
            authorization: "Bearer {{vars.plain | trim}}"
            x-other: "{{toBase64(vars.token)}}"
          body: { token: "{{vars.token}}", text: "<{{vars.plain}}>" }
        test: res.body == vars.token
        echo: "{{res.body}}"
      - name: an error
        uses: shell
        with: { cmd: "true", workdir: "/nowhere/{{vars.plain}}" }
      - name: another
        uses: http
        with: { get: "{url}/x", timeout: "{{vars.token}}" }
`;

Deno.test("no secret is in the report, in any encoding, with and without -v", async () => {
  const next = random(42);
  await withRig(async (rig) => {
    await withFiles({ "w.yml": WORKFLOW.replaceAll("{url}", rig.url) }, async (cwd) => {
      for (let round = 0; round < 6; round++) {
        const env = {
          API_TOKEN: randomSecret(next),
          MY_PASSWORD: randomSecret(next).replace(/[^\x20-\x7e]/g, "e"),
        };
        const args = round % 2 ? ["-v", "--timing", "w.yml"] : ["w.yml"];
        const { code, stdout, stderr } = await runCli(args, { cwd, env });
        assertEquals(code, 1);
        assertStringIncludes(stdout, "***");
        for (const secret of Object.values(env)) {
          for (const form of forms(secret)) {
            const text = stdout + stderr;
            const at = text.indexOf(form);
            assert(
              at < 0,
              `${JSON.stringify(secret)} as ${form}: ${text.slice(Math.max(0, at - 200), at + 80)}`,
            );
          }
        }
      }
    });
  });
});

Deno.test("ordinary values stay readable beside secrets", async () => {
  const workflow =
    'name: n\njobs:\n  - name: j\n    steps:\n      - uses: hello\n        echo: "ann"\n';
  await withFiles({ "w.yml": workflow }, async (cwd) => {
    const env = { GIT_AUTHOR_NAME: "ann", SHORT_KEY: "ann" };
    const { stdout } = await runCli(["w.yml"], { cwd, env });
    assertStringIncludes(stdout, "ann");
    assert(!stdout.includes("***"));
  });
});

Deno.test("cookies that a server sets are secrets from then on", async () => {
  const server = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen: () => {} },
    () => new Response("hi", { headers: { "set-cookie": "session=abcdef0123456789; Path=/" } }),
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
      const { stdout, stderr } = await runCli(["-v", "w.yml"], { cwd });
      assert(!(stdout + stderr).includes("abcdef0123456789"), stdout + stderr);
    });
  } finally {
    await server.shutdown();
  }
});
