import { assertEquals } from "@std/assert";
import { importCase } from "../support/import_case.ts";

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
