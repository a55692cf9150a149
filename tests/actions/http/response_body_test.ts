import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { createHash } from "node:crypto";
import {
  brotliCompressSync,
  constants,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from "node:zlib";
import { runHttp } from "../../../src/actions/http/run_http.ts";
import { StepError } from "../../../src/base/errors.ts";
import { parseJson } from "../../../src/base/value/parse_json.ts";
import type { Dict } from "../../../src/base/value/value.ts";
import { actionContext } from "../../support/action_context.ts";
import { rawServer } from "../../support/servers/raw_server.ts";
import { tlsCertificate, tlsPath } from "../../support/servers/tls_fixture.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { withFiles } from "../../support/temp_dir.ts";

type MakeResponse = () => Response;

async function ask(answer: MakeResponse, params: Dict = {}): Promise<Dict> {
  await using context = actionContext();
  await using server = withServer(answer);
  return (await runHttp({ get: server.url, ...params }, context)).res;
}

/** A response of that content type; of none where it is empty. */
function typed(body: string | Uint8Array<ArrayBuffer>, type: string): MakeResponse {
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
      assertEquals([res.body, res.size], [null, data.length]);
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
  ["zstd", zstdCompressSync(TEXT)],
  ["zstd", zstdCompressSync(TEXT, { params: { [constants.ZSTD_c_checksumFlag]: 1 } })],
  // Two frames, and one that is to be skipped.
  [
    "zstd",
    Uint8Array.from([
      ...zstdCompressSync(TEXT.slice(0, 9)),
      ...bytesOf("\x51\x2a\x4d\x18\x03\0\0\0abc"),
      ...zstdCompressSync(TEXT.slice(9)),
    ]),
  ],
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

for (const encoding of ["none", "utf-8", "lzma", "none, identity"]) {
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

for (const [index, [encoding, bytes]] of ENCODED.slice(0, 8).entries()) {
  Deno.test(`http says that ${encoding} data is cut, invalid or too long, and saves none (${index})`, async () => {
    const cut = [9, 1].map((less) => bytes.subarray(0, bytes.length - less));
    const long = encoding === "deflate" ? [] : [Uint8Array.from([...bytes, 1])];
    for (
      const bad of [...cut, ...long, bytesOf("\x01\x02\x03\x04"), bytesOf("not packed at all")]
    ) {
      await withFiles({}, async (cwd) => {
        for (const params of [{}, { save: `${cwd}/x` }] as Dict[]) {
          await assertRejects(
            () => ask(encoded(bad, encoding), params),
            StepError,
            `the body of the response is not complete ${encoding} data`,
          );
        }
        assertEquals([...Deno.readDirSync(cwd)], []);
      });
    }
  });
}

Deno.test("data of zstd that is invalid after megabytes ends its step alone", async () => {
  const packed = zstdCompressSync(Uint8Array.from({ length: 1 << 20 }, (_, at) => at ^ at >> 7));
  for (let at = 100; at < packed.length; at += 97) packed[at]! ^= 0x5a;
  await assertRejects(() => ask(encoded(packed, "zstd")), StepError, "not complete zstd data");
});

const FAST = { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } };

Deno.test("http gives up on a body of more than 64 MiB, however it is sent", async () => {
  const chunk = new Uint8Array(1 << 20);
  const zeros = new Uint8Array(65 << 20);
  const answers: Record<string, MakeResponse> = {
    "with a length": () =>
      new Response(endless(chunk, 200), {
        headers: { "content-type": "text/plain", "content-length": String(200 << 20) },
      }),
    "in chunks": () =>
      new Response(endless(chunk, 200), { headers: { "content-type": "image/png" } }),
    "packed with gzip": encoded(gzipSync(zeros), "gzip"),
    "packed with br": encoded(brotliCompressSync(zeros, FAST), "br"),
    "packed with zstd": encoded(zstdCompressSync(zeros), "zstd"),
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

function encoded(bytes: Uint8Array, encoding: string): MakeResponse {
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

const LONG_TEXT = "what was asked for, ".repeat(5000);

function digestsOf(text: string): unknown {
  return ["sha256", "sha1", "md5"].map((name) => createHash(name).update(text).digest("hex"));
}

async function download(params: Dict, answer: () => Response | Promise<Response>) {
  await using context = actionContext();
  await using server = withServer(answer);
  const { res, status } = await runHttp({ get: server.url, ...params }, context);
  return { res, status };
}

Deno.test("http saves a body in a file, whose directories it makes", async () => {
  await withFiles({}, async (cwd) => {
    const path = `${cwd}/a/b/file.txt`;
    const { res } = await download({ save: path }, () => new Response(LONG_TEXT));
    assertEquals(await Deno.readTextFile(path), LONG_TEXT);
    assertEquals([res.body, res.rawbody, res.filepath, res.size], [
      null,
      undefined,
      path,
      LONG_TEXT.length,
    ]);
    assertEquals([res.sha256, res.sha1, res.md5], digestsOf(LONG_TEXT));
    assertEquals([...Deno.readDirSync(`${cwd}/a/b`)].map(({ name }) => name), ["file.txt"]);
  });
});

Deno.test("http gives size and digests of a body in memory", async () => {
  const { res } = await download({}, () =>
    new Response(new Uint8Array(gzipSync(LONG_TEXT)), {
      headers: { "content-encoding": "gzip" },
    }));
  assertEquals(res.size, LONG_TEXT.length);
  assertEquals([res.sha256, res.sha1, res.md5], digestsOf(LONG_TEXT));
});

const ENCODINGS = [
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["deflate", deflateRawSync],
  ["br", brotliCompressSync],
  ["zstd", zstdCompressSync],
  ["gzip, br", (text: string) => brotliCompressSync(gzipSync(text))],
  ["utf-8", (text: string) => new TextEncoder().encode(text)],
] as const;

for (const [encoding, encode] of ENCODINGS) {
  Deno.test(`http saves a body in the encoding ${encoding} decoded`, async () => {
    await withFiles({}, async (cwd) => {
      const path = `${cwd}/file`;
      const body = new Uint8Array(encode(LONG_TEXT));
      const { res } = await download(
        { save: path },
        () => new Response(body, { headers: { "content-encoding": encoding } }),
      );
      assertEquals(await Deno.readTextFile(path) === LONG_TEXT, true);
      assertEquals([res.sha256, res.sha1, res.md5], digestsOf(LONG_TEXT));
    });
  });
}

Deno.test("http saves an empty body", async () => {
  await withFiles({}, async (cwd) => {
    const { res } = await download({ save: `${cwd}/x` }, () => new Response(""));
    assertEquals([await Deno.readTextFile(`${cwd}/x`), res.size], ["", 0]);
  });
});

Deno.test("http saves no page of an error, and keeps the file that is there", async () => {
  await withFiles({ "x": "before" }, async (cwd) => {
    const { res, status } = await download(
      { save: `${cwd}/x` },
      () => new Response("not here", { status: 404 }),
    );
    assertEquals([res.body, res.filepath, status], ["not here", undefined, 1]);
    assertEquals(await Deno.readTextFile(`${cwd}/x`), "before");
  });
});

Deno.test("http saves the body at the end of a redirect", async () => {
  await withFiles({}, async (cwd) => {
    await using context = actionContext();
    await using server = withServer(({ url }) =>
      url.endsWith("/to")
        ? new Response("found")
        : new Response("moved", { status: 302, headers: { location: "/to" } })
    );
    await runHttp({ get: server.url, save: `${cwd}/x` }, context);
    assertEquals(await Deno.readTextFile(`${cwd}/x`), "found");
  });
});

const BROKEN: readonly (readonly [what: string, answer: string, message: RegExp])[] = [
  [
    "ends early",
    "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf",
    /closed the connection after 4 bytes of the body/,
  ],
  [
    "is not in its encoding",
    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nhalf",
    /the body of the response is not complete gzip data/,
  ],
];

for (const [what, answer, message] of BROKEN) {
  Deno.test(`http leaves nothing of a body that ${what}`, async () => {
    await withFiles({ "x": "before" }, async (cwd) => {
      await using context = actionContext();
      await using server = rawServer(async (connection) => {
        await connection.request();
        await connection.send(answer);
      });
      for (const save of [`${cwd}/x`, `${cwd}/new/y`]) {
        const run = async () => await runHttp({ get: server.url, save }, context);
        assertMatch((await assertRejects(run, StepError)).message, message);
      }
      assertEquals([...Deno.readDirSync(cwd)].map(({ name }) => name), ["x"]);
      assertEquals(await Deno.readTextFile(`${cwd}/x`), "before");
    });
  });
}

Deno.test("http leaves nothing of a body when the step is stopped", async () => {
  await withFiles({}, async (cwd) => {
    await using context = actionContext();
    await using server = rawServer(async (connection) => {
      await connection.request();
      await connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf");
      context.stop(new StepError("the step timed out after 1s"));
      await connection.request();
    });
    const run = async () => await runHttp({ get: server.url, save: `${cwd}/x` }, context);
    assertMatch((await assertRejects(run, StepError)).message, /timed out after 1s/);
    assertEquals([...Deno.readDirSync(cwd)], []);
  });
});

Deno.test("http says why a body cannot be saved, before it sends the request", async () => {
  await withFiles({ "file": "" }, async (cwd) => {
    await using context = actionContext();
    let requests = 0;
    await using server = withServer(() => {
      requests++;
      return new Response("x");
    });
    for (
      const [save, reason] of [
        [cwd, "it is a directory"],
        [`${cwd}/file/x`, "a part of the path is not a directory|ENOTDIR|Not a directory"],
      ] as const
    ) {
      const run = async () => await runHttp({ get: server.url, save }, context);
      const { message, details } = await assertRejects(run, StepError);
      assertMatch(
        message,
        new RegExp(`^cannot save the body of the response to "${save}": (${reason})`),
      );
      assertEquals(details.parameter, "save");
    }
    assertEquals(requests, 0);
  });
});

Deno.test("http obeys --allow-write", async () => {
  await withFiles({}, async (cwd) => {
    await using base = actionContext();
    const context = { ...base, permissions: { write: [{ path: `${cwd}/out` }] } };
    await using server = withServer(() => new Response("x"));
    const run = async () => await runHttp({ get: server.url, save: `${cwd}/x` }, context);
    const { message, hint } = await assertRejects(run, StepError);
    assertEquals(
      message,
      `cannot save the body of the response to "${cwd}/x": --allow-write does not name '${cwd}/x'`,
    );
    assertEquals(hint, `allow it with --allow-write=${cwd}/x`);
    await Deno.mkdir(`${cwd}/out`);
    await runHttp({ get: server.url, save: `${cwd}/out/x` }, context);
    assertEquals(await Deno.readTextFile(`${cwd}/out/x`), "x");
  });
});

const LIMITS: readonly (readonly [max_body: Dict[string], message: RegExp])[] = [
  ["10kB", /larger than the limit of 10 kB$/],
  [100, /larger than the limit of 100 bytes$/],
  ["1KiB", /larger than the limit of 1\.02 kB$/],
];

for (const [max_body, message] of LIMITS) {
  Deno.test(`http refuses a body larger than max_body: ${max_body}`, async () => {
    const packed = new Uint8Array(gzipSync(LONG_TEXT));
    for (
      const [body, headers] of [[LONG_TEXT, {}], [packed, { "content-encoding": "gzip" }]] as const
    ) {
      await withFiles({}, async (cwd) => {
        for (const [params, said] of [[{}, true], [{ save: `${cwd}/x` }, false]] as const) {
          const run = () =>
            download({ max_body, ...params }, () => new Response(body, { headers }));
          const failure = await assertRejects(run, StepError);
          assertMatch(failure.message, message);
          assertEquals(failure.hint?.includes('"save"'), said);
        }
        assertEquals([...Deno.readDirSync(cwd)], []);
      });
    }
  });
}

Deno.test("http reads a body larger than 64 MiB where max_body allows it", async () => {
  const body = new Uint8Array(70 * 1024 * 1024).fill(97);
  const run = (params: Dict) => download(params, () => new Response(body));
  assertMatch((await assertRejects(() => run({}), StepError)).message, /the limit of 64 MiB$/);
  assertEquals((await run({ max_body: "100MB" })).res.size, body.length);
});

for (const scheme of ["http", "https"]) {
  Deno.test(`http saves every byte of a large body over ${scheme}`, async () => {
    await using context = actionContext();
    await using server = withServer((request) => {
      // Chunks of many lengths, which are cut anew on their way.
      let seed = 1;
      const length = request.url.endsWith("/small") ? 5_000 : 200_000;
      const next = () => (seed = (seed * 16_807) % 2_147_483_647);
      let left = 60;
      return new Response(
        new ReadableStream({
          pull(controller) {
            if (left-- === 0) return controller.close();
            controller.enqueue(
              new Uint8Array(1 + next() % length).fill(left).map((n, at) => n ^ (at >> 5)),
            );
          },
        }),
      );
    }, scheme === "https" ? tlsCertificate("good") : undefined);
    const tls = { ca: tlsPath("authority.pem") };
    await withFiles({}, async (directory) => {
      for (const size of ["small", "large"]) {
        const get = `${server.url}/${size}`;
        const save = `${directory}/${size}`;
        const kept = (await runHttp({ get, tls }, context)).res;
        const { res } = await runHttp({ get, tls, save }, context);
        assertEquals([res.sha256, res.size], [kept.sha256, kept.size]);
        const bytes = await Deno.readFile(save);
        assertEquals(bytes.length, res.size);
        assertEquals(createHash("sha256").update(bytes).digest("hex"), res.sha256);
      }
    });
  });
}
