import { assertEquals, assertStringIncludes } from "@std/assert";
import { assertPlaces, importCase } from "../support/import_case.ts";
import { HAR } from "./inputs.ts";

Deno.test("new --from har translates what was recorded", async () => {
  await importCase({
    args: ["har", "a.har"],
    files: { "a.har": JSON.stringify(HAR) },
    env: { X_API_KEY: "k3y-of-the-recording-9" },
    notes: ["1 requests for images"],
    lines: [
      "- name: 1. GET /start",
      "res.code == 302",
      "follow_redirects: false",
      "tea: Assam",
      "Cookie: lang=de",
      'X-Api-Key: "{{vars.x_api_key}}"',
      "&& res.headers['Content-Type'] startsWith 'application/json'",
      "form:",
    ],
    respond: ({ path }) =>
      path === "/start"
        ? new Response(null, {
          status: 302,
          headers: { location: "/api", "set-cookie": "sid=new; Path=/" },
        })
        : undefined,
    seen: ([first, second, third]) => {
      assertEquals(first!.headers.get("user-agent"), "runner");
      assertEquals(second!.path, "/api/orders?x={{y}}");
      assertStringIncludes(second!.headers.get("cookie")!, "lang=de");
      assertEquals(second!.headers.get("x-api-key"), "k3y-of-the-recording-9");
      assertEquals(third!.body, "a=1&b=2");
    },
  });
});

Deno.test("new --from har reports the position of a part that is missing in a HAR file", async () => {
  const entries = (text: string) => `{\n  "log": {\n    "entries": ${text}\n  }\n}`;
  await assertPlaces("har", {
    "broken.har": ['{"log": {"entries": [}}', "broken.har:1:22: error: invalid JSON"],
    "other.json": ["{}", 'other.json:1:1: error: "log" is missing'],
    "empty.har": ["", "invalid JSON"],
    "list.har": ["[1]", "list.har:1:1: error: the file must be a map, not a list"],
    "log.har": ['{\n  "log": 5\n}', 'log.har:2:10: error: "log" must be a map, not 5'],
    "none.har": ['{\n\t"log": {}\n}', 'none.har:2:9: error: "log.entries" is missing'],
    "map.har": [entries("{}"), 'map.har:3:16: error: "log.entries" must be a list, not a map'],
    "entry.har": [
      entries('[\n      "x"\n    ]'),
      'entry.har:4:7: error: "log.entries[0]" must be a map, not "x"',
      '  4 |       "x"',
      "    |       ^^^",
    ],
    "request.har": [
      entries('[\n      {"request": {"url": "http://h/"}},\n      {"response": {}}\n    ]'),
      'request.har:5:7: error: "log.entries[1].request" is missing',
      '  5 |       {"response": {}}',
      "    |       ^^^^^^^^^^^^^^^^",
    ],
    "url.har": [
      entries('[{"request": {"url": 7}}]'),
      'url.har:3:37: error: "log.entries[0].request.url" must be a string, not 7',
    ],
  });
});

Deno.test("new --from har translates the variants of browsers", async () => {
  const entry = (url: string, request: object, response: object = {}) => ({
    request: { method: "POST", url, headers: [], ...request },
    response: { status: 200, headers: [], content: { mimeType: "application/json" }, ...response },
  });
  const entries = [
    entry("wss://example.com/socket", { method: "GET" }, { status: 101 }),
    entry("URL/cached", {
      method: "GET",
      headers: [{ name: "If-None-Match", value: '"1"' }],
    }, { status: 304 }),
    entry("URL/form", {
      postData: {
        mimeType: "application/x-www-form-urlencoded",
        params: [{ name: "a", value: "x%20y" }, { name: "b", value: "1" }, {
          name: "b",
          value: "2",
        }],
      },
    }),
    entry("URL/parts", {
      postData: {
        mimeType: "multipart/form-data; boundary=x",
        params: [
          { name: "tag", value: "a" },
          { name: "tag", value: "b" },
          { name: "photo", fileName: "a.png", contentType: "image/x-tea" },
        ],
      },
    }),
  ];
  await importCase({
    args: ["har", "a.har"],
    files: { "a.har": JSON.stringify({ log: { entries } }), "a.png": "tea" },
    notes: ["wss://example.com/socket: http sends to http and https alone"],
    lines: ["test: res.code == 200"],
    seen: ([cached, form, parts]) => {
      assertEquals(cached!.path, "/cached");
      assertEquals(form!.body, "a=x%20y&b=1&b=2");
      for (const text of ["a", "b"]) {
        assertStringIncludes(parts!.body, `\r\n\r\n${text}\r\n`);
      }
      assertStringIncludes(parts!.body, "image/x-tea");
    },
  });
});
