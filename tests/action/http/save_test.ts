import { assert, assertEquals, assertMatch, assertRejects } from "@std/assert";
import { createHash } from "node:crypto";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync } from "node:zlib";
import { runHttp } from "../../../src/action/http/run_http.ts";
import { StepError } from "../../../src/base/errors.ts";
import type { Dict } from "../../../src/base/value/value.ts";
import { actionContext } from "../../support/action_context.ts";
import { rawServer } from "../../support/servers/raw_server.ts";
import { withFiles } from "../../support/temp_dir.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { tlsCertificate, tlsPath } from "../../support/servers/tls_fixture.ts";

const TEXT = "what was asked for, ".repeat(5000);

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
    const { res } = await download({ save: path }, () => new Response(TEXT));
    assertEquals(await Deno.readTextFile(path), TEXT);
    assertEquals([res.body, res.rawbody, res.filepath, res.size], [
      "",
      undefined,
      path,
      TEXT.length,
    ]);
    assertEquals([res.sha256, res.sha1, res.md5], digestsOf(TEXT));
    assertEquals([...Deno.readDirSync(`${cwd}/a/b`)].map(({ name }) => name), ["file.txt"]);
  });
});

Deno.test("http gives size and digests of a body in memory", async () => {
  const { res } = await download({}, () =>
    new Response(new Uint8Array(gzipSync(TEXT)), {
      headers: { "content-encoding": "gzip" },
    }));
  assertEquals(res.size, TEXT.length);
  assertEquals([res.sha256, res.sha1, res.md5], digestsOf(TEXT));
});

const ENCODINGS = [
  ["gzip", gzipSync],
  ["deflate", deflateSync],
  ["deflate", deflateRawSync],
  ["br", brotliCompressSync],
  ["gzip, br", (text: string) => brotliCompressSync(gzipSync(text))],
  ["utf-8", (text: string) => new TextEncoder().encode(text)],
] as const;

for (const [encoding, encode] of ENCODINGS) {
  Deno.test(`http saves a body in the encoding ${encoding} decoded`, async () => {
    await withFiles({}, async (cwd) => {
      const path = `${cwd}/file`;
      const body = new Uint8Array(encode(TEXT));
      const { res } = await download(
        { save: path },
        () => new Response(body, { headers: { "content-encoding": encoding } }),
      );
      assertEquals(await Deno.readTextFile(path) === TEXT, true);
      assertEquals([res.sha256, res.sha1, res.md5], digestsOf(TEXT));
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
      const [save, words] of [
        [cwd, "it is a directory"],
        [`${cwd}/file/x`, "a part of the path is not a directory|ENOTDIR|Not a directory"],
      ] as const
    ) {
      const run = async () => await runHttp({ get: server.url, save }, context);
      const { message, details } = await assertRejects(run, StepError);
      assertMatch(
        message,
        new RegExp(`^cannot save the body of the response to "${save}": (${words})`),
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
    const packed = new Uint8Array(gzipSync(TEXT));
    for (const [body, headers] of [[TEXT, {}], [packed, { "content-encoding": "gzip" }]] as const) {
      const run = () => download({ max_body }, () => new Response(body, { headers }));
      const { message: said, hint } = await assertRejects(run, StepError);
      assertMatch(said, message);
      assert(hint?.includes('"save"'));
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
