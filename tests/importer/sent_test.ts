/** The requests of translated workflows, and the secrets in them, for all formats. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { type ImportCase, importCase, runTranslated } from "../support/import_case.ts";
import { runMain } from "../support/run/run_main.ts";
import { withServer } from "../support/servers/with_server.ts";
import { withFiles } from "../support/temp_dir.ts";

const TYPE = "application/json-patch+json; charset=utf-8";
const PATCH = '[{"op":"remove"}]';
const FORM = "application/x-www-form-urlencoded";
const LATIN = "a=%E9&b=x%20y&a=2";

const entry = (path: string, headers: readonly string[][], text: string) => ({
  request: {
    method: "POST",
    url: `URL/${path}`,
    headers: headers.map(([name, value]) => ({ name, value })),
    postData: { mimeType: headers[0]![1], text },
  },
});

const item = (path: string, headers: readonly string[][], body: unknown) => ({
  name: path,
  request: {
    method: "POST",
    url: `URL/${path}`,
    header: headers.map(([key, value]) => ({ key, value })),
    body,
  },
});

const HEADERS = [["Content-Type", TYPE], ["Host", "tea.example"]];

/** A patch for another host, and a form with a name that comes again, as a text or as fields. */
const FORMATS: Readonly<Record<string, readonly [args: readonly string[], text: string]>> = {
  curl: [[
    `curl URL/patch -H 'Content-Type: ${TYPE}' -H 'Host: tea.example' -d '${PATCH}'\n` +
    `curl URL/form -d '${LATIN}'`,
  ], ""],
  har: [
    ["in"],
    JSON.stringify({
      log: {
        entries: [entry("patch", HEADERS, PATCH), entry("form", [["Content-Type", FORM]], LATIN)],
      },
    }),
  ],
  http: [
    ["in"],
    `POST URL/patch
Content-Type: ${TYPE}
Host: tea.example

${PATCH}

###
POST URL/form
Content-Type: ${FORM}

${LATIN}
`,
  ],
  hurl: [
    ["in"],
    `POST URL/patch
Content-Type: ${TYPE}
Host: tea.example
${PATCH}

POST URL/form
[Query]
a: 1
b: x y
a: 2
[Form]
a: é
b: x y
a: 2
`,
  ],
  postman: [
    ["in"],
    JSON.stringify({
      info: {},
      item: [
        item("patch", HEADERS, { mode: "raw", raw: PATCH }),
        item("form", [], {
          mode: "urlencoded",
          urlencoded: [["a", "é"], ["b", "x y"], ["a", "2"]].map(([key, value]) => ({
            key,
            value,
          })),
        }),
      ],
    }),
  ],
  bruno: [["."], ""],
};

const BRUNO = {
  "1.bru": `post {
  url: URL/patch
  body: json
}
headers {
  Content-Type: ${TYPE}
  Host: tea.example
}
body:json {
  ${PATCH}
}
`,
  "2.bru": `post {
  url: URL/form
  body: formUrlEncoded
}
body:form-urlencoded {
  a: é
  b: x y
  a: 2
}
`,
};

for (const [from, [args, text]] of Object.entries(FORMATS)) {
  Deno.test(`new --from ${from} keeps media types, hosts and the order of fields`, async () => {
    await importCase({
      args: [from, ...args],
      files: from === "bruno" ? BRUNO : { in: text },
      seen: ([patch, form]) => {
        assertEquals(patch!.headers.get("content-type"), TYPE);
        assertEquals(patch!.headers.get("host"), "tea.example");
        assertEquals(JSON.parse(patch!.body), JSON.parse(PATCH));
        assertEquals(form!.headers.get("content-type")!.startsWith(FORM), true);
        assertEquals(form!.body.replace("%C3%A9", "%E9"), LATIN);
        if (from === "hurl") assertEquals(form!.path, "/form?a=1&b=x%20y&a=2");
      },
    });
  });
}

/** Two folders with two requests each. The first request fails. */
const FOLDERS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  postman: {
    in: JSON.stringify({
      info: {},
      item: ["a", "b"].map((name) => ({
        name,
        item: ["1", "2"].map((one) => ({ name: one, request: `URL/${name}${one}` })),
      })),
    }),
  },
  bruno: Object.fromEntries(
    ["a1", "a2", "b1", "b2"].map((
      [folder, name],
    ) => [
      `in/${folder}/${name}.bru`,
      `meta {\n  seq: ${name}\n}\nget {\n  url: URL/${folder}${name}\n}\n`,
    ]),
  ),
};

for (const [from, files] of Object.entries(FOLDERS)) {
  Deno.test(`new --from ${from}: a failed folder does not skip later ones`, async () => {
    const seen: string[] = [];
    await using server = withServer((request) => {
      seen.push(new URL(request.url).pathname);
      return new Response(null, { status: seen.length === 1 ? 500 : 200 });
    });
    const placed = Object.fromEntries(
      Object.entries(files).map(([name, text]) => [name, text.replaceAll("URL", server.url)]),
    );
    const { code } = await runTranslated([from, "in"], placed);
    assertEquals(code, 1);
    assertEquals(seen, ["/a1", "/a2", "/b1", "/b2"]);
  });
}

/** An input with a secret in it, the variable that is read instead, and what has it. */
const SECRETS: readonly (readonly [name: string, secret: string, variable: string, ImportCase])[] =
  [
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

for (const [name, secret, variable, test] of SECRETS) {
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
