import { assertEquals, assertStringIncludes } from "@std/assert";
import { type ImportCase, importCase } from "../support/import_case.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

/** An input with a secret in it, the variable that is read instead, and what has it. */
const CASES: readonly (readonly [name: string, secret: string, variable: string, ImportCase])[] = [
  ["a short password of -u", "pa55", "PASSWORD", {
    args: ["curl", "curl -u ann:pa55 URL/"],
    seen: ([one]) => assertEquals(one!.headers.get("authorization"), `Basic ${btoa("ann:pa55")}`),
  }],
  ["a password in a URL", "hunter22", "PASSWORD", {
    args: ["curl", "curl http://ann:hunter22@ADDRESS/a"],
    seen: ([one]) =>
      assertEquals(one!.headers.get("authorization"), `Basic ${btoa("ann:hunter22")}`),
  }],
  ["a key in a query, as it is encoded", "a1%2Fb2c3d4", "API_KEY", {
    args: ["curl", "curl 'URL/a?x=1&api_key=a1%2Fb2c3d4&y=2'"],
    lines: ['get: "URL/a?x=1&api_key={{vars.api_key}}&y=2"'],
    seen: ([one]) => assertEquals(one!.path, "/a?x=1&api_key=a1%2Fb2c3d4&y=2"),
  }],
  ["a form", "pa55-W0rd!x", "PASS", {
    args: ["curl", "curl URL/login -d user=ann -d 'pass=pa55-W0rd!x'"],
    seen: ([one]) => assertEquals(new URLSearchParams(one!.body).get("pass"), "pa55-W0rd!x"),
  }],
  ["a text of XML", "abc defg1", "PASSWORD", {
    args: ["curl", "curl URL/ -H 'Content-Type: text/xml' -d '<password>abc defg1</password>'"],
    seen: ([one]) => assertEquals(one!.body, "<password>abc defg1</password>"),
  }],
  ["a variable of a file", "pa55-W0rd!x", "PASS", {
    args: ["http", "a.http"],
    files: { "a.http": "@pass = pa55-W0rd!x\nPOST URL/\n\n{{pass}}\n" },
    seen: ([one]) => assertEquals(one!.body, "pa55-W0rd!x"),
  }],
  ["a key in the URL that names a step", "a1b2c3d4e5", "API_KEY", {
    args: ["http", "a.http"],
    files: { "a.http": "GET URL/a?api_key=a1b2c3d4e5\n" },
    lines: ["- name: GET /a?api_key=***"],
    seen: ([one]) => assertEquals(one!.path, "/a?api_key=a1b2c3d4e5"),
  }],
  ["a password, and one of an option that is a comment", "pa55-W0rd!x", "PASSWORD", {
    args: ["curl", "curl URL/ -u 'ann:pa55-W0rd!x' --tlspassword 'pa55-W0rd!xx'"],
    notes: ["--tlspassword ***: http has nothing like it"],
    seen: ([one]) =>
      assertEquals(one!.headers.get("authorization"), `Basic ${btoa("ann:pa55-W0rd!x")}`),
  }],
  ["a variable of another name that is sent as a token, twice", "t0k3n-of-ann", "TOK", {
    args: ["http", "a.http"],
    files: {
      "a.http": "@tok = t0k3n-of-ann\nGET URL/\nAuthorization: Bearer {{tok}}\n\n" +
        "###\nGET URL/\nX-Api-Key: {{tok}}\n",
    },
    seen: ([one, two]) => {
      assertEquals(one!.headers.get("authorization"), "Bearer t0k3n-of-ann");
      assertEquals(two!.headers.get("x-api-key"), "t0k3n-of-ann");
    },
  }],
];

for (const [name, secret, variable, test] of CASES) {
  Deno.test(`new --from reads a secret from the environment: ${name}`, async () => {
    const line = `# Set in the environment: ${variable}.`;
    const lines = [line, ...test.lines ?? []];
    const text = await importCase({ ...test, lines, env: { [variable]: secret } });
    assertEquals(text.includes(secret), false, text);
  });
}

Deno.test("new --from leaves values that are wrong on purpose, and settings", async () => {
  await withFiles({}, async (cwd) => {
    const command = "curl http://x/?token_type=bearer-token -u ann:wrong -b theme=dark-blue " +
      "-d 'pass=wrong-password&password='";
    const { stdout, stderr } = await runMain(["new", "--from", "curl", command], { cwd });
    for (const text of ["=bearer-token", "password: wrong", "dark-blue", "pass: wrong-password"]) {
      assertStringIncludes(stdout, text);
    }
    assertEquals(stderr, "");
  });
});
