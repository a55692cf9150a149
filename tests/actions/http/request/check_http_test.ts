import { assert, assertEquals, assertThrows } from "@std/assert";
import { http, mergeHttpDefaults } from "../../../../src/actions/http/http.ts";
import {
  addQuery,
  EncodingError,
  joinUrl,
  readUrl,
} from "../../../../src/actions/http/request/http_syntax.ts";
import type { Dict } from "../../../../src/base/value/value.ts";

const GOOD: readonly Dict[] = [
  { get: "http://h/" },
  { url: "http://h", method: "GET" },
  { url: "http://h", method: "propfind" },
  { url: "http://h", get: "" },
  { url: "{{vars.url}}", get: "/x" },
  { url: "{{vars.url}}", method: "{{vars.method}}" },
  { get: "{{vars.target}}" },
  { get: "{{vars.host}}/x" },
  { get: "http://h/", post: null },
  { get: "http://h/", headers: { A: 1, B: true, C: null, D: "{{x}}" } },
  { get: "http://h/", headers: "{{vars.headers}}" },
  {
    get: "http://h/",
    query: { a: [1] },
    body: [1],
    timeout: "1s",
    follow_redirects: false,
    max_redirects: 3,
    insecure: true,
  },
];

for (const params of GOOD) {
  Deno.test(`http accepts ${JSON.stringify(params)}`, () => {
    assertEquals(http.problems!(params), []);
  });
}

const BAD: readonly (readonly [Dict, ...(readonly [path: string, message: string])[]])[] = [
  [{ url: "http://h" }, ["", "http step has no method"]],
  [{}, ["", "http step has no method"]],
  [{ url: "http://h", method: null }, ["", "http step has no method"]],
  [{ get: "http://h", post: "http://h" }, [
    "post",
    'http step has two methods, "get" and "post"',
  ]],
  [{ method: "GET", get: "{{x}}" }, ["get", 'http step has two methods, "method" and "get"']],
  [{ method: "G T", url: "http://h" }, ["method", 'invalid method "G T"']],
  [{ method: "connect", url: "http://h" }, ["method", 'the method "connect" is not supported']],
  [{ method: "GET" }, ["", "http step has no url"]],
  [{ get: "/x" }, ["get", '"get" is the path "/x", and there is no "url" to append it to']],
  [{ get: "ftp://h/x" }, ["get", 'the scheme "ftp://" of "ftp://h/x" is not supported']],
  [{ url: "h:80", get: "/x" }, ["url", 'invalid URL "h:80/x"']],
  [{ url: "http://h", get: "http://a b" }, ["get", 'invalid URL "http://a b"']],
  [{ get: "http://h", insecure: true, verify_ssl: true }, [
    "insecure",
    '"insecure" and "verify_ssl" cannot be combined',
  ]],
  [
    { get: "http://h", headers: { "a b": "1", B: ["x", ["y"]], C: {} } },
    ["headers.a b", 'invalid header name "a b"'],
    ["headers.B", '"headers.B" must be text or a list of texts'],
    ["headers.C", '"headers.C" must be a string or a list, not a map'],
  ],
  [{ get: "http://h", gett: 1 }, ["gett", 'unknown parameter "gett" of http']],
  [{ get: "http://h", max_redirects: -1 }, [
    "max_redirects",
    '"max_redirects" must be 0 or greater, not -1',
  ]],
];

for (const target of ["localhost/x", "api:80", "10.0.0.1/", "www.a.org", "a.b.org/x", "http:/h"]) {
  Deno.test(`http says how ${target} becomes a URL`, () => {
    const [problem] = http.problems!({ get: target });
    assertEquals(problem?.hint, 'begin it with "http://" or "https://"');
  });
}

for (const target of ["/x", "x", "v1.0/x", "index.html", "localhostel", "a/b:80"]) {
  Deno.test(`http takes ${target} for a path`, () => {
    const [problem] = http.problems!({ get: target });
    assertEquals(problem?.hint, 'give a full URL, or "url" in the defaults');
  });
}

for (const [params, ...problems] of BAD) {
  Deno.test(`http refuses ${JSON.stringify(params)}`, () => {
    assertEquals(
      http.problems!(params).map(({ path, message }) => [path.join("."), message] as const),
      problems,
    );
  });
}

const CASES: readonly (readonly [what: string, defaults: Dict, params: Dict, merged: Dict])[] = [
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

for (const [what, defaults, params, merged] of CASES) {
  Deno.test(`mergeHttpDefaults() ${what}`, () => {
    const before = JSON.stringify([defaults, params]);
    assertEquals(JSON.parse(JSON.stringify(mergeHttpDefaults(defaults, params))), merged);
    assertEquals(JSON.stringify([defaults, params]), before);
  });
}

const JOINED: readonly (readonly [base: string, target: string, sent: string])[] = [
  ["http://h/v1", "/pets", "http://h/v1/pets"],
  ["http://h/v1/", "/pets", "http://h/v1/pets"],
  ["http://h/v1", "pets", "http://h/v1/pets"],
  ["http://h", "/", "http://h/"],
  ["http://h", "", "http://h/"],
  ["http://h/v1", "/", "http://h/v1/"],
  ["http://h/v1/", "", "http://h/v1/"],
  ["http://h/v1", "/pets/", "http://h/v1/pets/"],
  ["http://h/base?q=1", "/rel", "http://h/base/rel?q=1"],
  ["http://h/base?q=1", "rel?x=2", "http://h/base/rel?x=2"],
  ["http://h/base?q=1", "?x=2", "http://h/base?x=2"],
  ["http://h/base?q=1", "", "http://h/base?q=1"],
  ["http://h?q=1", "/x", "http://h/x?q=1"],
  ["http://h/base?q=1", "/../up/", "http://h/up/?q=1"],
  ["http://h/base/?k=v#f", "/a%2Fb/c d/é#g", "http://h/base/a%2Fb/c%20d/%C3%A9?k=v"],
  ["http://h/base", "//evil/x", "http://h/base/evil/x"],
  ["http://h/base", "\\\\evil\\x", "http://h/base/evil/x"],
  ["http://h/base", "/a//b", "http://h/base/a//b"],
  ["http://h/base", "/x?to=http://other/", "http://h/base/x?to=http://other/"],
  ["http://h/base", "http://other/x", "http://other/x"],
  ["http://h/base", "HTTPS://other/x?y", "https://other/x?y"],
  ["http://h:8080/base", "/a:b", "http://h:8080/base/a:b"],
];

for (const [base, target, sent] of JOINED) {
  Deno.test(`joinUrl() makes ${sent} of ${base} and "${target}"`, () => {
    const url = readUrl(joinUrl(base, target));
    assert(url instanceof URL);
    assertEquals(url.href.replace(/#.*/, ""), sent);
  });
}

const REFUSED: readonly (readonly [text: string, message: string, hint?: string])[] = [
  ["127.0.0.1:80", 'invalid URL "127.0.0.1:80"', 'begin it with "http://" or "https://"'],
  ["localhost:80/x", 'invalid URL "localhost:80/x"', 'begin it with "http://" or "https://"'],
  ["/pets", 'invalid URL "/pets"', 'begin it with "http://" or "https://"'],
  ["", 'invalid URL ""', 'begin it with "http://" or "https://"'],
  ["http://a b/", 'invalid URL "http://a b/"'],
  ["http://h:99999/", 'invalid URL "http://h:99999/"'],
  [
    "ftp://h/x",
    'the scheme "ftp://" of "ftp://h/x" is not supported',
    'use "http://" or "https://"',
  ],
  ["http://me:secret@a b/", 'invalid URL "http://me:***@a b/"'],
  ["http://me:se@cr:et@a b/", 'invalid URL "http://me:***@a b/"'],
];

for (const [text, message, hint] of REFUSED) {
  Deno.test(`readUrl() refuses "${text}"`, () => {
    assertEquals(readUrl(text), hint === undefined ? { message } : { message, hint });
  });
}

const QUERIES: readonly (readonly [url: string, query: Dict, search: string])[] = [
  ["http://h/", { a: 1, b: true, c: "x y&z" }, "?a=1&b=true&c=x%20y%26z"],
  ["http://h/?x=%2F", { a: "é" }, "?x=%2F&a=%C3%A9"],
  ["http://h/?", { a: 1 }, "?a=1"],
  ["http://h/", { tag: ["a", "b"], none: null }, "?tag=a&tag=b"],
  ["http://h/?x=1", {}, "?x=1"],
  ["http://h/", { "\ud800": 1 }, "?%EF%BF%BD=1"],
];

for (const [url, query, search] of QUERIES) {
  Deno.test(`addQuery() makes ${search} of ${url} and ${JSON.stringify(query)}`, () => {
    assertEquals(addQuery(new URL(url), query).search, search);
  });
}

Deno.test("addQuery() refuses values that a query cannot represent", () => {
  for (const value of [{ b: 1 }, [[1]]]) {
    assertThrows(
      () => addQuery(new URL("http://h/"), { a: value }),
      EncodingError,
      '"a" in "query"',
    );
  }
});
