import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { runHttp } from "../../../src/action/http/run_http.ts";
import { StepError } from "../../../src/base/errors.ts";
import { parseJson } from "../../../src/base/value/parse_json.ts";
import type { Dict } from "../../../src/base/value/value.ts";
import { actionContext } from "../../support/action_context.ts";
import { rawServer } from "../../support/servers/raw_server.ts";
import { withServer } from "../../support/servers/with_server.ts";

type Answer = () => Response;

async function ask(answer: Answer): Promise<Dict> {
  await using context = actionContext();
  await using server = withServer(answer);
  return (await runHttp({ get: server.url }, context)).res;
}

/** A response of that content type; of none where it is empty. */
function typed(body: string | Uint8Array<ArrayBuffer>, type: string): Answer {
  return () =>
    new Response(new Blob([body]).stream(), type ? { headers: { "content-type": type } } : {});
}

const PARSED: readonly (readonly [text: string, type: string, body: unknown])[] = [
  ['{"a":[1,2]}', "application/json", { a: [1, 2] }],
  ['{"a":1}', "application/problem+json; charset=utf-8", { a: 1 }],
  ["42", "application/json", 42],
  ["null", "application/json", null],
  [' {"a":1}\n', "text/plain", { a: 1 }],
  ["[1]", "text/html", [1]],
  ["[1]", "", [1]],
  ['{"id":12345678901234567890,"n":1}', "application/json", { id: 12345678901234567890n, n: 1 }],
  ['\ufeff{"a":1}', "application/json", { a: 1 }],
];

for (const [text, type, body] of PARSED) {
  Deno.test(`http parses ${JSON.stringify(text)} of type "${type}" and keeps the text`, async () => {
    const res = await ask(typed(text, type));
    assertEquals(parseJson(JSON.stringify(res.body)), body);
    assertEquals(res.rawbody, text.replace("\ufeff", ""));
  });
}

const TEXTS: readonly (readonly [bytes: string, type: string, body: string])[] = [
  ['{"a":', "application/json", '{"a":'],
  ["", "application/json", ""],
  ["{a}", "text/plain", "{a}"],
  ["42", "text/plain", "42"],
  ['"x"', "", '"x"'],
  ["h\xc3\xa9", "text/plain", "h\u00e9"],
  ["h\xe9", "text/plain; charset=ISO-8859-1", "h\u00e9"],
  ["h\xe9", 'text/plain; charset="latin1"', "h\u00e9"],
  ["h\xc3\xa9", "text/plain; charset=nonsense", "h\u00e9"],
  ["h\xc3\xa9", "application/octet-stream", "h\u00e9"],
  ["h\xc3\xa9", "image/png", "h\u00e9"],
  ["h\xc3\xa9!!", "text/plain; charset=utf-16le", "h\u00e9!!"],
  ["\x83n", "text/plain; charset=Shift_JIS", "\u30cf"],
  ["\xc4\xe3", "text/plain; charset=gbk", "\u4f60"],
  ["\xff\xfeh\x00", "text/plain", "h"],
  [
    '<?xml version="1.0" encoding="iso-8859-1"?>\xe9',
    "text/xml",
    '<?xml version="1.0" encoding="iso-8859-1"?>\u00e9',
  ],
  [
    '<?xml version="1.0" encoding="utf-16"?>\xc3\xa9',
    "text/xml",
    '<?xml version="1.0" encoding="utf-16"?>\u00e9',
  ],
  ['<meta charset="windows-1252">\x80', "text/html", '<meta charset="windows-1252">\u20ac'],
  [
    '<meta http-equiv=Content-Type content="text/html; charset=windows-1251">\xe9',
    "text/html",
    '<meta http-equiv=Content-Type content="text/html; charset=windows-1251">\u0439',
  ],
  ["\x00h", "text/plain; charset=utf-16be", "h"],
  ["<a/>", "image/svg+xml", "<a/>"],
  ["a: 1", "application/yaml", "a: 1"],
];

for (const [bytes, type, body] of TEXTS) {
  Deno.test(`http gives ${JSON.stringify(bytes)} of type "${type}" as text`, async () => {
    const res = await ask(typed(bytesOf(bytes), type));
    assertEquals([res.body, res.rawbody, res.filepath], [body, undefined, undefined]);
  });
}

const BINARY: readonly (readonly [type: string, suffix: string])[] = [
  ["image/png", ".png"],
  ["image/jpeg", ".jpg"],
  ["application/octet-stream", ".bin"],
  ["", ".bin"],
  ["text/plain", ".bin"],
  ["text/plain; charset=iso-8859-1", ".bin"],
  ["application/json", ".bin"],
];

for (const [type, suffix] of BINARY) {
  Deno.test(`http keeps binary data of type "${type}" in a file until the run ends`, async () => {
    const data = bytesOf("\x89PNG\x00\xff");
    let path: string;
    {
      await using context = actionContext();
      await using server = withServer(typed(data, type));
      const { res } = await runHttp({ get: server.url }, context);
      path = String(res.filepath);
      assertEquals([res.body, res.size], ["", data.length]);
      assert(path.endsWith(suffix), path);
      assertEquals(await Deno.readFile(path), data);
    }
    await assertRejects(() => Deno.stat(path), Deno.errors.NotFound);
  });
}

const TEXT = JSON.stringify({ text: "x".repeat(1000) });
const ENCODED: readonly (readonly [encoding: string, bytes: Uint8Array])[] = [
  ["gzip", gzipSync(TEXT)],
  ["x-gzip", gzipSync(TEXT)],
  ["br", brotliCompressSync(TEXT)],
  ["deflate", deflateSync(TEXT)],
  ["deflate", deflateRawSync(TEXT)],
  ["gzip, br", brotliCompressSync(gzipSync(TEXT))],
  ["identity", new TextEncoder().encode(TEXT)],
];

for (const [encoding, bytes] of ENCODED) {
  Deno.test(`http decodes ${encoding} of ${bytes.length} bytes`, async () => {
    const res = await ask(encoded(bytes, encoding));
    assertEquals(res.rawbody, TEXT);
    assertEquals((res.headers as Dict)["Content-Encoding"], encoding);
  });
}

for (const encoding of ["none", "utf-8", "zstd", "none, identity"]) {
  Deno.test(`http takes a body of the encoding "${encoding}" as it is`, async () => {
    const res = await ask(encoded(new TextEncoder().encode(TEXT), encoding));
    assertEquals([res.rawbody, res.filepath], [TEXT, undefined]);
  });
}

Deno.test("http gives the size and the digest of every body, after decoding", async () => {
  const digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  for (const answer of [typed("abc", "text/plain"), encoded(gzipSync("abc"), "gzip")]) {
    const { size, sha256 } = await ask(answer);
    assertEquals([size, sha256], [3, digest]);
  }
  const { size, sha256, body } = await ask(() => new Response(null));
  assertEquals([size, body, String(sha256).slice(0, 8)], [0, "", "e3b0c442"]);
});

Deno.test("http joins a body that comes in tiny chunks", async () => {
  const count = 10_000;
  await using context = actionContext();
  await using server = rawServer(async (connection) => {
    await connection.request();
    await connection.send("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
    await connection.send("1\r\nx\r\n".repeat(count) + "0\r\n\r\n");
    await connection.closed();
  });
  const { res } = await runHttp({ get: server.url }, context);
  assertEquals([res.size, res.body], [count, "x".repeat(count)]);
});

for (const [index, [encoding, bytes]] of ENCODED.slice(0, 5).entries()) {
  Deno.test(`http says that ${encoding} data is truncated or invalid (${index})`, async () => {
    const cut = bytes.subarray(0, bytes.length - 9);
    for (const bad of [cut, bytes.subarray(0, bytes.length - 1), bytesOf("\x01\x02\x03\x04")]) {
      await assertRejects(
        () => ask(encoded(bad, encoding)),
        StepError,
        `the body of the response is not complete ${encoding} data`,
      );
    }
  });
}

const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

Deno.test("http gives up on a body of more than 64 MiB, however it is sent", async () => {
  const chunk = new Uint8Array(1 << 20);
  const zeros = new Uint8Array(65 << 20);
  const answers: Record<string, Answer> = {
    "with a length": () =>
      new Response(endless(chunk, 200), {
        headers: { "content-type": "text/plain", "content-length": String(200 << 20) },
      }),
    "in chunks": () =>
      new Response(endless(chunk, 200), { headers: { "content-type": "image/png" } }),
    "packed with gzip": encoded(gzipSync(zeros), "gzip"),
    "packed with br": encoded(brotliCompressSync(zeros, FAST), "br"),
  };
  for (const answer of Object.values(answers)) {
    const { message } = await assertRejects(() => ask(answer), StepError);
    assertMatch(
      message,
      /^cannot read the response to GET "http:.*": the body of the response is larger than the limit of 64 MiB$/,
    );
  }
});

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}

function encoded(bytes: Uint8Array, encoding: string): Answer {
  return () =>
    new Response(new Uint8Array(bytes), {
      headers: { "content-type": "application/json", "content-encoding": encoding },
    });
}

function endless(chunk: Uint8Array, count: number): ReadableStream<Uint8Array> {
  let left = count;
  return new ReadableStream({
    pull(controller) {
      if (left-- > 0) controller.enqueue(chunk);
      else controller.close();
    },
  });
}
