/** Variables of the input: those that nothing defines, and those that are defined in odd ways. */
import { assertEquals, assertMatch, assertStringIncludes } from "@std/assert";
import { importCase } from "../support/import_case.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";

const URL_OF_MACHINE = "http://127.0.0.1:9{{path}}/{{home}}";

const postman = (url: string, more: object = {}) =>
  JSON.stringify({ info: { name: "x" }, item: [{ name: "a", request: { url } }], ...more });

/** A request to a URL in each format that has variables. */
const FORMATS: Readonly<Record<string, (url: string) => Readonly<Record<string, string>>>> = {
  postman: (url) => ({
    "a.json": postman(url, { variable: [{ key: "late", value: "{{user}}" }] }),
  }),
  bruno: (url) => ({ "a.bru": `meta {\n  name: a\n}\n\nget {\n  url: ${url}\n}\n` }),
  http: (url) => ({ "a.http": `@late = {{user}}\n\nGET ${url}\n` }),
  hurl: (url) => ({ "a.hurl": `GET ${url}\n` }),
};

for (const [format, filesOf] of Object.entries(FORMATS)) {
  Deno.test(`new --from ${format}: an undefined variable is never one of the machine`, async () => {
    const files = filesOf(URL_OF_MACHINE);
    await withFiles(files, async (cwd) => {
      const from = ["new", "--from", format, Object.keys(files)[0]!, "-o", "made.yml"];
      const { stderr } = await runMain(from, { cwd });
      assertStringIncludes(stderr, "--var path=…");
      const env = { PATH: "/secret/bin", HOME: "/secret/home", USER: "secret" };
      const run = await runMain(["made.yml"], { cwd, env });
      assertEquals([run.code, run.stdout], [1, ""]);
      assertStringIncludes(run.stderr, "path is not set (vars.path, made.yml:");
      assertStringIncludes(run.stderr, "home is not set (vars.home, made.yml:");
    });
  });
}

Deno.test("an undefined variable is sent neither as null nor as the word nil", async () => {
  const variable = [{ key: "base", value: "{{name}}://127.0.0.1:9" }];
  const post = "POST http://127.0.0.1:9/x\n";
  const inputs: readonly (readonly [format: string, text: string])[] = [
    ["hurl", `${post}{"password": "{{name}}"}\n`],
    ["hurl", `${post}{"n": [1, {{name}}]}\n`],
    ["hurl", `${post}\`\`\`graphql\nquery { a }\nvariables { "n": {{name}} }\n\`\`\`\n`],
    ["postman", postman("{{base}}/x", { variable })],
  ];
  for (const [format, text] of inputs) {
    await withFiles({ "a.json": text }, async (cwd) => {
      await runMain(["new", "--from", format, "a.json", "-o", "made.yml"], { cwd });
      const run = await runMain(["made.yml"], { cwd });
      assertEquals([run.code, run.stdout], [1, ""], text);
      assertStringIncludes(run.stderr, "name is not set (vars.name, made.yml:");
    });
  }
});

Deno.test("a variable that needs an undefined one is put together where it is read", async () => {
  await importCase({
    args: ["postman", "a.json"],
    files: {
      "a.json": postman("{{base}}/x", {
        variable: [{ key: "base", value: "{{scheme}}://{{host}}/v1" }, {
          key: "host",
          value: "ADDRESS",
        }],
      }),
    },
    vars: { scheme: "http" },
    lines: [
      "get: \"{{(string(vars.scheme) + '://' + string(vars.host) + '/v1')}}/x\"",
      "scheme: null",
    ],
    seen: ([one]) => assertEquals(one!.path, "/v1/x"),
  });
});

/** A variable without a scheme at the beginning of a URL, and a parameter of its path. */
const HOSTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  postman: {
    "a.json": postman("{{host}}/items/:item?x=/:y", {
      variable: [{ id: "host", value: "{{address}}" }, { id: "address", value: "ADDRESS" }],
    }),
  },
  bruno: {
    "a/a.bru": "meta {\n  name: a\n}\n\nget {\n  url: {{host}}/items/:item?x=/:y\n}\n",
    "a/environments/e.bru": "vars {\n  host: ADDRESS\n}\n",
  },
  http: { "a.http": "@host = ADDRESS\n\nGET {{host}}/items/{{item}}?x=/:y\n" },
};

for (const [format, files] of Object.entries(HOSTS)) {
  Deno.test(`new --from ${format}: a host without a scheme, and a parameter of the path`, async () => {
    const [path = ""] = Object.keys(files);
    await importCase({
      args: [format, format === "bruno" ? "a" : path],
      files,
      vars: { item: "7" },
      lines: ['get: "http://{{vars.host}}/items/{{vars.item}}?x=/:y"', "item: null"],
      seen: ([one]) => assertEquals(one!.path, "/items/7?x=/:y"),
    });
  });
}

Deno.test("values that a script sets before a request are vars", async () => {
  const exec = [
    'const uuid = require("uuid");',
    "const kind = 'green';",
    'pm.environment.set("kind", kind);',
    'pm.variables.set("id", uuid.v4());',
    'pm.environment.set("day", new Date().toISOString());',
    'pm.globals.set("count", 2);',
  ];
  const event = [{ listen: "prerequest", script: { exec } }];
  const item = [{ name: "a", request: { url: "URL/{{kind}}/{{id}}/{{day}}/{{count}}" }, event }];
  await importCase({
    args: ["postman", "a.json"],
    files: { "a.json": postman("", { item }) },
    lines: ["kind: green", 'id: "{{uuid()}}"', 'day: "{{now()}}"', "count: 2"],
    seen: ([one]) => assertMatch(one!.path, /^\/green\/[\da-f-]{36}\/\d{4}-.*\/2$/),
  });
});
