/** A template in a file of another tool is data: it must not be evaluated, wherever it is. */
import { assert, assertEquals } from "@std/assert";
import { RunnerError } from "../../src/base/errors.ts";
import { isDict, type Value } from "../../src/base/value/value.ts";
import { translateInput } from "../../src/importer/input.ts";
import { IMPORTERS } from "../../src/importer/registry.ts";
import { renderDraft } from "../../src/draft/draft.ts";
import { runMain } from "../support/run/run_main.ts";
import { withFiles } from "../support/temp_dir.ts";
import { BRUNO, COLLECTION, HAR, HTTP, HURL } from "./inputs.ts";

/** If this becomes an expression, `check` says that there is no such function. */
const PROBE = "{{stolen()}}' + stolen() + '";

/** The fields that the other inputs do not have. */
const MORE_HAR = {
  log: {
    entries: [{
      request: {
        method: "POST",
        url: "http://h/a",
        headers: [{ name: "X-A", value: "b" }],
        postData: {
          mimeType: "multipart/form-data",
          params: [
            { name: "a", value: "b" },
            { name: "f", fileName: "a.txt", contentType: "text/plain" },
          ],
        },
      },
    }, {
      request: {
        method: "POST",
        url: "http://h/a",
        headers: [],
        postData: { mimeType: "text/csv", text: "a,b" },
      },
    }, {
      request: {
        method: "POST",
        url: "http://h/a",
        headers: [],
        postData: {
          mimeType: "application/x-www-form-urlencoded",
          params: [{ name: "a", value: "1" }, { name: "b", value: "2" }, { name: "a", value: "3" }],
        },
      },
    }],
  },
};

const request = (name: string, more: object) => ({
  name,
  request: { method: "POST", url: "http://h/:id/x?y=z", ...more },
});

const MORE_POSTMAN = {
  info: { name: "More" },
  variable: [{ key: "list", value: [{ deep: "x" }] }],
  item: [
    request("apikey", {
      auth: {
        type: "apikey",
        apikey: [
          { key: "in", value: "query" },
          { key: "key", value: "api" },
          { key: "value", value: "v" },
        ],
      },
    }),
    request("parts", {
      url: {
        raw: "http://h/:id",
        variable: [{ key: "id", value: "7" }],
        query: [{ key: "q", value: "1" }],
      },
      body: {
        mode: "formdata",
        formdata: [
          { key: "a", value: "b", contentType: "text/csv" },
          { key: "f", type: "file", src: "a.txt", contentType: "text/plain" },
        ],
      },
    }),
    request("file", { body: { mode: "file", file: { src: "a.bin" } } }),
    request("graphql", {
      body: {
        mode: "graphql",
        graphql: { query: "{ a }", variables: '{"a": "b"}', operationName: "op" },
      },
    }),
    request("basic", {
      auth: { type: "basic", basic: { username: "u", password: "p" } },
      header: [{ key: "Content-Type", value: "text/x" }],
      body: { mode: "raw", raw: "text" },
    }),
    { ...request("behavior", {}), protocolProfileBehavior: { other: "x", maxRedirects: "y" } },
  ],
};

const MORE_BRUNO = `meta {
  name: Parts
}

post {
  url: http://h/:id
  body: multipartForm
  auth: apikey
}

params:path {
  id: 7
}

auth:apikey {
  key: X-Key
  value: v
  placement: header
}

settings {
  timeout: 100
  other: x
}

body:multipart-form {
  a: b @contentType(text/csv)
  f: @file(a.txt|b.txt) @contentType(text/plain)
}

assert {
  res.body.a: eq b
  res.body.b: in b, c
  res.body.c: matches ^b
}
`;

const FILE_BRUNO = `meta {
  name: File
}

post {
  url: http://h/
  body: file
}

body:file {
  file: @file(a.bin) @contentType(application/x)
}
`;

const MORE_HTTP = `POST http://h/parts
Content-Type: multipart/form-data; boundary=bound
Authorization: Digest user pass

--bound
Content-Disposition: form-data; name="a"
Content-Type: text/csv

text
--bound
Content-Disposition: form-data; name="f"; filename="name.txt"

< ./body.txt
--bound--

###
GRAPHQL http://h/graphql
X-A: {{first.response.body.$.a}}

query name { field }

{ "a": "b" }

###
# @name first
GET h.example/path

> {%
client.test("name", () => { client.assert(response.body.a == "text"); });
%}
`;

const MORE_HURL = `POST http://h/parts
[Multipart]
a: text
f: file,body.txt; text/csv
HTTP 200
[Captures]
name: jsonpath "$.a"
[Asserts]
jsonpath "$.a" == "text"
xpath "//a" == "text"
header "X-A" == "text"

POST http://h/file
[Query]
a: b
[Options]
proxy: proxy.example
max-time: 10s
file,body.bin;
HTTP 200
X-Answer: text
{"a": "text"}
`;

const CURL =
  `curl -X POST 'http://h/a?b=c' -H 'X-A: b' --json '{"a": "b"}' -u user:pass -A agent -e referer
curl http://h/b -b a=b -F 'a=b;type=text/csv' -F 'f=@a.txt;type=text/plain;filename=b' -m 5 -x proxy:1
curl http://h/c -T a.bin --cert c.pem:pass --key k.pem --cacert ca.pem --unix-socket s.sock -r 1-2
curl http://h/d -d a=b -d c=d --url-query e=f --interface lo --aws-sigv4 aws:amz:region:service
curl http://h/e --data-urlencode a=b --oauth2-bearer token --resolve h:80:127.0.0.1 -b jar.txt
`;

type Files = Readonly<Record<string, string>>;

const INPUTS: readonly (readonly [format: string, files: Files, changed: string])[] = [
  ["har", { "a.har": JSON.stringify(HAR) }, "a.har"],
  ["har", { "a.har": JSON.stringify(MORE_HAR) }, "a.har"],
  ["postman", { "a.json": JSON.stringify(COLLECTION) }, "a.json"],
  ["postman", { "a.json": JSON.stringify(MORE_POSTMAN) }, "a.json"],
  ...Object.keys(BRUNO).map((name) => ["bruno", BRUNO, name] as const),
  ["bruno", { "a.bru": MORE_BRUNO }, "a.bru"],
  ["bruno", { "a.bru": FILE_BRUNO }, "a.bru"],
  ["http", { "a.http": HTTP }, "a.http"],
  ["http", { "a.http": MORE_HTTP }, "a.http"],
  ["hurl", { "a.hurl": HURL }, "a.hurl"],
  ["hurl", { "a.hurl": MORE_HURL }, "a.hurl"],
  ["curl", { "": CURL }, ""],
];

/** The text with the probe in each of its fields in turn: those of JSON, or each of its words. */
function* spoilt(text: string): Iterable<string> {
  if (text.startsWith("{")) {
    yield* fields(JSON.parse(text), JSON.stringify);
    return;
  }
  for (const { index, 0: word } of text.matchAll(/[A-Za-z0-9_./-]+/g)) {
    yield text.slice(0, index + word.length) + PROBE + text.slice(index + word.length);
  }
}

function* fields<T>(value: Value, make: (value: Value) => T): Iterable<T> {
  if (typeof value === "string") {
    yield make(value + PROBE);
  } else if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) {
      yield* fields(one, (changed) => make(value.with(index, changed)));
    }
  } else if (isDict(value)) {
    for (const [name, one] of Object.entries(value)) {
      yield* fields(one, (changed) => make({ ...value, [name]: changed }));
    }
  }
}

for (const format of new Set(INPUTS.map(([format]) => format))) {
  Deno.test(`no text in the input of ${format} becomes an expression`, async () => {
    const translate = await IMPORTERS.find(({ name }) => name === format)!.load();
    const made: Record<string, string> = {};
    for (const [, files, changed] of INPUTS.filter(([one]) => one === format)) {
      for (const text of spoilt(files[changed]!)) {
        const all = Object.entries({ ...files, [changed]: text });
        try {
          const draft = await translateInput(translate, {
            words: format === "curl" ? [text] : [],
            files: format === "curl" ? [] : all.map(([name, text]) => ({ name, text })),
          });
          made[`${Object.keys(made).length}.yml`] = renderDraft(draft, text.split("\n"));
        } catch (error) {
          // Not each word can be changed.
          if (!(error instanceof RunnerError)) throw new Error(text, { cause: error });
        }
      }
    }
    assert(Object.keys(made).length > 20);
    await withFiles(made, async (cwd) => {
      const { stdout } = await runMain(["check", "."], { cwd });
      const live = [...stdout.matchAll(/^(\d+\.yml):(\d+).*unknown function "stolen"/gm)];
      const lines = live.map(([, file, line]) => made[file!]!.split("\n")[Number(line) - 1]);
      assertEquals(lines, []);
    });
  });
}
