import { assertEquals, assertMatch, assertRejects } from "@std/assert";
import { runHttp } from "../../../src/actions/http/run_http.ts";
import { StepError } from "../../../src/base/errors.ts";
import type { Dict } from "../../../src/base/value/value.ts";
import { actionContext } from "../../support/action_context.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";

interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: Headers;
  readonly body: Uint8Array<ArrayBuffer>;
}

/** Sends a body to a server; gives what the server saw and the result. */
async function upload(params: Dict, answer = (_: Seen) => new Response("ok")) {
  await using context = actionContext();
  const seen: Seen[] = [];
  await using server = withServer(async (request) => {
    const { method, headers, url } = request;
    const one = {
      method,
      headers,
      path: new URL(url).pathname,
      body: new Uint8Array(await request.arrayBuffer()),
    };
    seen.push(one);
    return answer(one);
  });
  const result = await runHttp({ url: server.url, ...params }, context);
  return { result, seen, first: seen[0]!, text: new TextDecoder().decode(seen[0]!.body) };
}

const TEXTS: readonly (readonly [what: string, params: Dict, text: string, type: string | null])[] =
  [
    ["json", { json: { a: [1, null] } }, '{"a":[1,null]}', "application/json"],
    ["a text as JSON", { json: "x" }, '"x"', "application/json"],
    [
      "JSON of another type",
      { json: [], headers: { "content-type": "application/vnd.api+json" } },
      "[]",
      "application/vnd.api+json",
    ],
    [
      "a form",
      { form: { a: "x y&", b: [1, true], c: null } },
      "a=x%20y%26&b=1&b=true",
      "application/x-www-form-urlencoded",
    ],
    [
      "a form whatever type the defaults give",
      { form: { a: 1 }, headers: { "Content-Type": "application/json" } },
      "a=1",
      "application/x-www-form-urlencoded",
    ],
    [
      "a GraphQL query",
      { graphql: { query: "{a}", variables: { x: 1 }, operation: "Q" } },
      '{"query":"{a}","variables":{"x":1},"operationName":"Q"}',
      "application/json",
    ],
  ];

for (const [what, params, text, type] of TEXTS) {
  Deno.test(`http sends ${what}`, async () => {
    const { first, result, ...sent } = await upload({ post: "/", ...params });
    assertEquals([sent.text, first.headers.get("content-type")], [text, type]);
    assertEquals(result.req.body, text);
  });
}

for (const method of ["DELETE", "PROPFIND"]) {
  Deno.test(`http sends a body with ${method}`, async () => {
    const { first, text } = await upload({ method, json: { q: 1 } });
    assertEquals([first.method, text], [method, '{"q":1}']);
  });
}

Deno.test("http sends a file with its length and the type of its extension", async () => {
  await withFiles({ "layer.tgz": "0123456789" }, async (cwd) => {
    const { first, text, result } = await upload({ put: "/", file: `${cwd}/layer.tgz` });
    assertEquals(text, "0123456789");
    assertEquals(first.headers.get("content-length"), "10");
    assertEquals(first.headers.get("content-type"), "application/gzip");
    assertEquals(first.headers.get("transfer-encoding"), null);
    assertEquals([result.req.file, result.req.body], [`${cwd}/layer.tgz`, ""]);
  });
});

Deno.test("http sends an empty file", async () => {
  await withFiles({ "none": "" }, async (cwd) => {
    const { first, text } = await upload({ put: "/", file: `${cwd}/none` });
    assertEquals([text, first.headers.get("content-length")], ["", "0"]);
    assertEquals(first.headers.get("content-type"), "application/octet-stream");
  });
});

Deno.test("http sends a file again where a redirect keeps the method", async () => {
  await withFiles({ "a.txt": "content" }, async (cwd) => {
    const { seen } = await upload(
      { put: "/from", file: `${cwd}/a.txt` },
      ({ path }) =>
        path === "/from"
          ? new Response(null, { status: 307, headers: { location: "/to" } })
          : new Response("ok"),
    );
    const texts = seen.map(({ path, body }) => [path, new TextDecoder().decode(body)]);
    assertEquals(texts, [["/from", "content"], ["/to", "content"]]);
  });
});

Deno.test("http sends the parts of a multipart form with lists, files, types and names", async () => {
  await withFiles({ "a.txt": "file a", 'b"ü.bin': "file b" }, async (cwd) => {
    const { first, result } = await upload({
      post: "/",
      multipart: {
        note: "hello",
        tag: ["x", 2, null],
        gone: null,
        meta: { value: { n: 1 } },
        xml: { value: "<a/>", type: "text/xml" },
        file: { file: `${cwd}/a.txt`, type: "application/gzip", filename: "x.tgz" },
        more: [{ file: `${cwd}/a.txt` }, { file: `${cwd}/b"ü.bin` }],
      },
    });
    assertEquals(first.headers.get("content-length"), String(first.body.length));
    const type = first.headers.get("content-type")!;
    const form = await new Response(first.body, { headers: { "content-type": type } }).formData();
    const parts = await Promise.all(
      [...form].map(async ([name, value]) =>
        typeof value === "string"
          ? [name, value]
          : [name, value.name, value.type, await value.text()]
      ),
    );
    assertEquals(parts, [
      ["note", "hello"],
      ["tag", "x"],
      ["tag", "2"],
      ["meta", '{"n":1}'],
      ["xml", "<a/>"],
      ["file", "x.tgz", "application/gzip", "file a"],
      ["more", "a.txt", "text/plain", "file a"],
      ["more", "b%22ü.bin", "application/octet-stream", "file b"],
    ]);
    assertMatch(
      new TextDecoder().decode(first.body),
      /name="meta"\r\nContent-Type: application\/json\r\n/,
    );
    assertEquals(JSON.parse(JSON.stringify(result.req.multipart)), {
      note: "hello",
      tag: ["x", "2"],
      meta: { value: '{"n":1}', type: "application/json" },
      xml: { value: "<a/>", type: "text/xml" },
      file: { file: `${cwd}/a.txt`, type: "application/gzip", filename: "x.tgz" },
      more: [
        { file: `${cwd}/a.txt`, type: "text/plain", filename: "a.txt" },
        { file: `${cwd}/b"ü.bin`, type: "application/octet-stream", filename: 'b"ü.bin' },
      ],
    });
  });
});

const TYPES: readonly (readonly [type: string, sent: RegExp])[] = [
  ["multipart/form-data", /^multipart\/form-data; boundary=runner-\w+$/],
  ["multipart/related; boundary=abc", /^multipart\/related; boundary=abc$/],
  ["application/json", /^multipart\/form-data; boundary=runner-\w+$/],
];

for (const [partType, sent] of TYPES) {
  Deno.test(`http sends a multipart body with the boundary where the type given is ${partType}`, async () => {
    const { first } = await upload({
      post: "/",
      headers: { "content-type": partType },
      multipart: { a: 1 },
    });
    const type = first.headers.get("content-type")!;
    assertMatch(type, sent);
    const [, boundary] = /boundary=(.*)/.exec(type)!;
    assertEquals(
      new TextDecoder().decode(first.body),
      `--${boundary}\r\nContent-Disposition: form-data; name="a"\r\n\r\n1\r\n--${boundary}--\r\n`,
    );
  });
}

Deno.test("http compresses a body", async () => {
  const { gunzipSync, inflateSync, brotliDecompressSync } = await import("node:zlib");
  const text = "again and ".repeat(100);
  await withFiles({ "a.txt": text }, async (cwd) => {
    for (
      const [compress, unpack] of [
        ["gzip", gunzipSync],
        ["deflate", inflateSync],
        ["br", brotliDecompressSync],
      ] as const
    ) {
      for (const body of [{ body: text }, { file: `${cwd}/a.txt` }] as Dict[]) {
        const { first, result } = await upload({ post: "/", compress, ...body });
        assertEquals(first.headers.get("content-encoding"), compress);
        assertEquals(new TextDecoder().decode(unpack(first.body)), text);
        assertEquals(
          first.headers.get("content-length"),
          "body" in body ? String(first.body.length) : null,
        );
        assertEquals(result.req.compress, compress);
      }
    }
  });
});

Deno.test("http sends a file of several chunks to a server that reads slowly", async () => {
  const content = "0123456789abcdef".repeat(200_000);
  await withFiles({ "large.bin": content }, async (cwd) => {
    const { text } = await upload({ put: "/", file: `${cwd}/large.bin` });
    assertEquals(text === content, true);
  });
});

Deno.test("http takes the answer of a server that wants no more of the body", async () => {
  await using context = actionContext();
  await using server = withServer(() => new Response("too large", { status: 413 }));
  await withFiles({ "large.bin": "x".repeat(5_000_000) }, async (cwd) => {
    const { res } = await runHttp({ put: server.url, file: `${cwd}/large.bin` }, context);
    assertEquals([res.code, res.body], [413, "too large"]);
  });
});

Deno.test("http reads a GraphQL query from a file and gives data and errors", async () => {
  await withFiles({ "q.graphql": "query A { a }\n" }, async (cwd) => {
    const answers: readonly (readonly [answer: unknown, fields: unknown])[] = [
      [{ data: { a: 1 } }, [{ a: 1 }, undefined, 0]],
      [{ data: { a: 1 }, errors: [] }, [{ a: 1 }, [], 0]],
      [{ data: null, errors: [{ message: "m" }] }, [null, [{ message: "m" }], 1]],
      [{ errors: [{ message: "m" }] }, [undefined, [{ message: "m" }], 1]],
      ["no map", [undefined, undefined, 0]],
    ];
    for (const [answer, fields] of answers) {
      const graphql = { file: `${cwd}/q.graphql`, variables: { n: 1 } };
      const { text, first, result: { res, status } } = await upload(
        { post: "/", graphql },
        () => Response.json(answer),
      );
      assertEquals(JSON.parse(text), { query: "query A { a }\n", variables: { n: 1 } });
      assertMatch(first.headers.get("accept")!, /application\/graphql-response\+json/);
      assertEquals([res.data, res.errors, status], fields);
    }
  });
});

const MISTAKES: readonly (readonly [what: string, params: Dict, message: RegExp])[] = [
  [
    "a missing file",
    { file: "/no/such/a.tgz" },
    /^cannot read the file "\/no\/such\/a\.tgz": no such file \(ENOENT\)$/,
  ],
  ["a directory", { file: "/" }, /^cannot read the file "\/": it is a directory \(EISDIR\)$/],
  [
    "a missing part",
    { multipart: { f: { file: "/no/such" } } },
    /^cannot read the file "\/no\/such": no such file/,
  ],
  [
    "a missing query",
    { graphql: { file: "/no/q" } },
    /^cannot read the GraphQL query "\/no\/q": no such file/,
  ],
  [
    "an unknown compression",
    { body: "x", compress: "zip" },
    /^cannot run http: invalid value "zip" for "compress"$/,
  ],
  [
    "a part of another form",
    { multipart: { f: { path: "a" } } },
    /^cannot run http: unknown key "path" in "multipart\.f"$/,
  ],
  ["a map in a form", { form: { a: { b: 1 } } }, /"a" in "form" must be text, a number/],
];

for (const [what, params, message] of MISTAKES) {
  Deno.test(`http names ${what}`, async () => {
    await using context = actionContext();
    const run = () => Promise.resolve(runHttp({ post: "http://127.0.0.1:1", ...params }, context));
    assertMatch((await assertRejects(run, StepError)).message, message);
  });
}
