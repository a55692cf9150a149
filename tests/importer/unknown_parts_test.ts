/** Parts of the input that are not understood are comments, and counted. */
import { assertEquals, assertStringIncludes } from "@std/assert";
import { type ImportCase, importCase } from "../support/import_case.ts";

const har = (postData: object) =>
  JSON.stringify({
    log: { entries: [{ request: { method: "POST", url: "URL/a", headers: [], postData } }] },
  });

const postman = (item: object, more: object = {}) =>
  JSON.stringify({
    info: { name: "x" },
    item: [{ name: "a", request: { url: "URL/a" }, ...item }],
    ...more,
  });

const MULTIPART = '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\none\r\ntwo\r\n--b\r\n' +
  'Content-Disposition: form-data; name="f"; filename="n.txt"\r\nContent-Type: text/csv\r\n\r\n' +
  "x;y\r\n--b--\r\n";

const CASES: readonly (readonly [what: string, test: ImportCase])[] = [
  ["a body of HAR in base64", {
    args: ["har", "a.har"],
    files: { "a.har": har({ mimeType: "text/csv", encoding: "base64", text: btoa("a;b") }) },
    seen: ([one]) => assertEquals(one!.body, "a;b"),
  }],
  ["a body of HAR whose bytes are no text", {
    args: ["har", "a.har"],
    files: { "a.har": har({ mimeType: "x/y", encoding: "base64", text: btoa("\xff\xfe") }) },
    notes: ["the body: its bytes are no text"],
  }],
  ["a multipart body of HAR as a text", {
    args: ["har", "a.har"],
    files: { "a.har": har({ mimeType: "multipart/form-data; boundary=b", text: MULTIPART }) },
    seen: ([one]) => {
      assertStringIncludes(one!.body, 'name="a"\r\n\r\none\r\ntwo\r\n');
      assertStringIncludes(one!.body, 'filename="n.txt"\r\nContent-Type: text/csv\r\n\r\nx;y\r\n');
    },
  }],
  ["settings of Postman", {
    args: ["postman", "a.json"],
    files: {
      "a.json": postman({
        protocolProfileBehavior: {
          disabledSystemHeaders: { "user-agent": true, connection: true, "postman-token": true },
          protocolVersion: "http2",
          tlsPreferServerCiphers: true,
        },
      }),
    },
    lines: ["user-agent: null", "version: auto"],
    notes: ["the header connection", "tlsPreferServerCiphers: true"],
    seen: ([one]) => assertEquals(one!.headers.get("user-agent"), null),
  }],
  ["keys of Postman", {
    args: ["postman", "a.json"],
    files: {
      "a.json": postman(
        { description: "x", response: [{ code: 1 }], retries: 3 },
        { hooks: ["x"], variable: [] },
      ),
    },
    notes: ['"hooks" of the collection: ["x"]', '"retries" of the item: 3'],
  }],
  ["blocks and keys of Bruno", {
    args: ["bruno", "a"],
    files: {
      "a/a.bru": "meta {\n  name: a\n}\n\nget {\n  url: URL/a\n  proxy: p\n}\n\n" +
        "app {\n  retries: 3\n}\n\ndocs {\n  x\n}\n\nassert {\n  res.custom: eq 1\n}\n",
    },
    notes: [
      'the block "app": retries: 3',
      '"proxy" of the request: p',
      "the assertion res.custom: eq 1",
    ],
  }],
];

for (const [what, test] of CASES) {
  Deno.test(`nothing of ${what} is lost`, async () => void await importCase(test));
}
