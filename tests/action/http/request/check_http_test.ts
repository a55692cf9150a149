import { assertEquals } from "@std/assert";
import { checkParameters } from "../../../../src/action/parameters.ts";
import { http } from "../../../../src/action/http/http.ts";
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
    assertEquals(checkParameters(http, params), []);
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
    ["headers.B", 'the header "B" must be text or a list of texts'],
    ["headers.C", 'the header "C" must be text, not a map'],
  ],
  [{ get: "http://h", gett: 1 }, ["gett", 'unknown parameter "gett" of http']],
  [{ get: "http://h", max_redirects: -1 }, [
    "max_redirects",
    '"max_redirects" must not be negative',
  ]],
];

for (const target of ["localhost/x", "api:80", "10.0.0.1/", "www.a.org", "a.b.org/x", "http:/h"]) {
  Deno.test(`http says how ${target} becomes a URL`, () => {
    const [problem] = checkParameters(http, { get: target });
    assertEquals(problem?.hint, 'begin it with "http://" or "https://"');
  });
}

for (const target of ["/x", "x", "v1.0/x", "index.html", "localhostel", "a/b:80"]) {
  Deno.test(`http takes ${target} for a path`, () => {
    const [problem] = checkParameters(http, { get: target });
    assertEquals(problem?.hint, 'give a full URL, or "url" in the defaults');
  });
}

for (const [params, ...problems] of BAD) {
  Deno.test(`http refuses ${JSON.stringify(params)}`, () => {
    assertEquals(
      checkParameters(http, params).map(({ path, message }) => [path.join("."), message] as const),
      problems,
    );
  });
}
