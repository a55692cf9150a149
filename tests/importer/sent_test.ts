import { assertEquals } from "@std/assert";
import { importCase, runTranslated } from "../support/import_case.ts";
import { withServer } from "../support/servers/with_server.ts";

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
  stepci: [
    ["in"],
    JSON.stringify({
      tests: {
        t: {
          steps: [
            {
              http: {
                url: "URL/patch",
                method: "POST",
                headers: Object.fromEntries(HEADERS),
                json: JSON.parse(PATCH),
              },
            },
            {
              http: {
                url: "URL/form",
                method: "POST",
                headers: { "Content-Type": FORM },
                body: LATIN,
              },
            },
          ],
        },
      },
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

/** Two folders, each with two requests, of which the first of all fails. */
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
  stepci: {
    in: JSON.stringify({
      tests: Object.fromEntries(
        ["a", "b"].map((name) => [name, {
          steps: ["1", "2"].map((one) => ({ http: { url: `URL/${name}${one}`, method: "GET" } })),
        }]),
      ),
    }),
  },
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
    // Step CI skips the other steps of a test that failed.
    assertEquals(seen, from === "stepci" ? ["/a1", "/b1", "/b2"] : ["/a1", "/a2", "/b1", "/b2"]);
  });
}
