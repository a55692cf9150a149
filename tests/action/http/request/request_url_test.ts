import { EncodingError } from "../../../../src/action/http/request/http_syntax.ts";
import { assert, assertEquals, assertThrows } from "@std/assert";
import { addQuery, joinUrl, readUrl } from "../../../../src/action/http/request/request_url.ts";
import type { Dict } from "../../../../src/base/value/value.ts";

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
