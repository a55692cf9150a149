import { assertEquals } from "@std/assert";
import { mergeHttpDefaults } from "../../../../src/action/http/request/merge_http_defaults.ts";
import type { Dict } from "../../../../src/base/value/value.ts";

const CASES: readonly (readonly [what: string, defaults: Dict, own: Dict, merged: Dict])[] = [
  [
    "takes what only one side has",
    { url: "http://h", timeout: "1s" },
    { get: "/x" },
    { url: "http://h", timeout: "1s", get: "/x" },
  ],
  ["lets a shorthand beat a method", { method: "POST" }, { get: "/x" }, { get: "/x" }],
  ["lets a method beat a shorthand", { get: "/x" }, { method: "PUT" }, { method: "PUT" }],
  ["lets a shorthand beat another", { get: "/x" }, { delete: "/y" }, { delete: "/y" }],
  [
    "keeps the method where the step only seems to have one",
    { method: "PUT" },
    { get: null },
    { method: "PUT", get: null },
  ],
  [
    "keeps two methods of a step, which are a mistake",
    { head: "/" },
    { get: "/x", method: "GET" },
    { get: "/x", method: "GET" },
  ],
  [
    "ignores the case of header names",
    { headers: { "X-Token": "a", Accept: "text/plain" } },
    { headers: { "x-token": "b" } },
    { headers: { Accept: "text/plain", "x-token": "b" } },
  ],
  ["lets null take a header away", { headers: { A: "1" } }, { headers: { a: null } }, {
    headers: { a: null },
  }],
  ["lets a template replace all headers", { headers: { A: "1" } }, { headers: "{{vars.h}}" }, {
    headers: "{{vars.h}}",
  }],
  [
    "merges maps and replaces lists",
    { query: { p: 1, l: [1, 2] } },
    { query: { q: 2, l: [9] } },
    { query: { p: 1, q: 2, l: [9] } },
  ],
  ["lets a body replace one of the same kind", { json: { a: 1 } }, { json: { b: 2 } }, {
    json: { b: 2 },
  }],
  ["lets a body replace one of another kind", { body: "x" }, { form: { b: 2 } }, {
    form: { b: 2 },
  }],
  [
    "keeps a body and its compression",
    { file: "a", compress: "gzip" },
    { post: "/" },
    { file: "a", compress: "gzip", post: "/" },
  ],
  [
    "lets insecure beat verify_ssl",
    { verify_ssl: true },
    { insecure: true },
    { insecure: true },
  ],
];

for (const [what, defaults, own, merged] of CASES) {
  Deno.test(`mergeHttpDefaults() ${what}`, () => {
    const before = JSON.stringify([defaults, own]);
    assertEquals(JSON.parse(JSON.stringify(mergeHttpDefaults(defaults, own))), merged);
    assertEquals(JSON.stringify([defaults, own]), before);
  });
}
