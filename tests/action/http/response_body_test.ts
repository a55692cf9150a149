import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { brotliCompressSync, constants, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { runHttp } from "../../../src/action/http/run_http.ts";
import { StepError } from "../../../src/source/errors.ts";
import type { Dict } from "../../../src/value/value.ts";
import { actionContext } from "../../support/action_context.ts";
import { withServer } from "../../support/with_server.ts";

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
  ['{"id":12345678901234567890,"n":1}', "application/json", { id: "12345678901234567890", n: 1 }],
  ['\ufeff{"a":1}', "application/json", { a: 1 }],
];

for (const [text, type, body] of PARSED) {
  Deno.test(`http parses ${JSON.stringify(text)} of type "${type}" and keeps the text`, async () => {
    const res = await ask(typed(text, type));
    assertEquals(JSON.parse(JSON.stringify(res.body)), body);
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
  ["h\xe9!", "text/plain", "h\ufffd!"],
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
      assertEquals(res.body, "");
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

Deno.test("http keeps a body of an unknown encoding in a file", async () => {
  const res = await ask(encoded(new TextEncoder().encode(TEXT), "zstd"));
  assertEquals(res.body, "");
  assert(String(res.filepath).endsWith(".bin"));
});

for (const [index, [encoding, bytes]] of ENCODED.slice(0, 5).entries()) {
  Deno.test(`http says that ${encoding} data was cut short or is none (${index})`, async () => {
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

Deno.test("http gives up on a body of more than 64 MB, however it is sent", async () => {
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
      /^cannot read the response to GET "http:.*": the body of the response is larger than the limit of 64 MB$/,
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
