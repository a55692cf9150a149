import { assert, assertEquals, assertRejects } from "@std/assert";
import {
  createSecureServer,
  createServer,
  type Http2Server,
  type ServerHttp2Stream,
} from "node:http2";
import type { AddressInfo } from "node:net";
import process from "node:process";
import type { Dict } from "../../../../src/action/action.ts";
import { runHttp } from "../../../../src/actions/http/run_http.ts";
import { StepError } from "../../../../src/base/errors.ts";
import { actionContext } from "../../../support/action_context.ts";
import { withFiles } from "../../../support/temp_dir.ts";
import { rawHttp2, type RawStream } from "../../../support/servers/raw_http2.ts";
import { withServer } from "../../../support/servers/with_server.ts";
import { tlsCertificate, tlsText } from "../../../support/servers/tls_fixture.ts";

const CERTIFICATE = tlsCertificate("good");
const tls = { ca: tlsText("authority.pem") };

/** A server that answers with what it was asked, and counts its sessions. */
async function http2Server(kind: "h2" | "h2c") {
  const server = (kind === "h2" ? createSecureServer(CERTIFICATE) : createServer()) as Http2Server;
  let sessions = 0;
  const open = new Set<{ destroy(): void }>();
  server.on("session", (session) => {
    sessions++;
    open.add(session);
    session.on("error", () => {});
  });
  server.on("stream", (stream: ServerHttp2Stream) => stream.on("error", () => {}));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as AddressInfo;
  return {
    server,
    url: `${kind === "h2" ? "https" : "http"}://127.0.0.1:${port}`,
    port,
    get sessions() {
      return sessions;
    },
    async [Symbol.asyncDispose]() {
      for (const session of open) session.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

for (const kind of ["h2", "h2c"] as const) {
  Deno.test(`http speaks HTTP/2 over one session: ${kind}`, async () => {
    await using context = actionContext();
    await using served = await http2Server(kind);
    served.server.on("stream", (stream: ServerHttp2Stream, headers) => {
      let body = "";
      stream.setEncoding("utf8");
      stream.on("data", (chunk: string) => body += chunk);
      stream.on("end", () => {
        stream.respond({ ":status": 201, "set-cookie": ["a=1", "b=2"], "x-name": "v" });
        stream.end(`${headers[":method"]} ${headers[":authority"]} ${headers["x-asked"]} ${body}`);
      });
    });
    const params = { url: served.url, version: 2, tls, headers: { "x-asked": "yes" } };
    const all = await Promise.all([
      runHttp({ get: "/", ...params }, context),
      runHttp({ post: "/", ...params, body: "hello" }, context),
    ]);
    const authority = `127.0.0.1:${served.port}`;
    assertEquals(all.map(({ res }) => res.body), [
      `GET ${authority} yes `,
      `POST ${authority} yes hello`,
    ]);
    const { version, code, headers, cookies, timing } = all[0]!.res;
    assertEquals([version, code, (headers as Dict)["X-Name"]], ["2", 201, "v"]);
    assertEquals((cookies as Dict[]).map(({ name }) => name), ["a", "b"]);
    assert(Number((timing as Dict).total) > 0);
    assertEquals(served.sessions, 1);
  });
}

Deno.test("http resends requests refused unprocessed or lost with a closed session", async () => {
  await using context = actionContext();
  await using served = await http2Server("h2c");
  let streams = 0;
  served.server.on("stream", (stream: ServerHttp2Stream) => {
    streams++;
    if (streams === 1) return stream.close(7);
    stream.respond({ ":status": 200 });
    stream.end("ok");
    if (streams === 2) stream.on("close", () => stream.session?.goaway());
  });
  const params = { post: served.url, version: "2", body: "x" };
  for (const _ of [1, 2]) assertEquals((await runHttp(params, context)).res.body, "ok");
  assertEquals(streams, 3);
});

Deno.test("http sends again once, in a new session, what a GOAWAY leaves out", async () => {
  await using context = actionContext();
  await using served = await http2Server("h2c");
  const asked: unknown[] = [];
  let refusals = 1;
  served.server.on("stream", (stream: ServerHttp2Stream, headers) => {
    stream.on("error", () => {});
    const path = headers[":path"];
    asked.push([path, served.sessions]);
    if (path === "/late" && refusals-- > 0) {
      stream.session?.goaway(0, 2 ** 31 - 1);
      // A GOAWAY with 0 as the last stream means the latest one, so the first is reset by itself.
      return stream.id === 1 ? stream.close(7) : stream.session?.goaway(0, Number(stream.id) - 2);
    }
    stream.respond({ ":status": 200 });
    stream.end(`${path}`);
  });
  const params = { url: served.url, version: "2", body: "x" };
  const post = async (path: string) => (await runHttp({ post: path, ...params }, context)).res.body;
  assertEquals(await post("/first"), "/first");
  assertEquals(await post("/late"), "/late");
  assertEquals(await post("/after"), "/after");
  assertEquals(asked, [["/first", 1], ["/late", 1], ["/late", 2], ["/after", 2]]);
  refusals = 2;
  await assertRejects(() => post("/late"), StepError, "the server refuses streams");
  assertEquals(asked.slice(4), [["/late", 2], ["/late", 3]]);
});

Deno.test("http ends an HTTP/2 request that takes too long, and goes on with the session", async () => {
  await using context = actionContext();
  await using served = await http2Server("h2c");
  served.server.on("stream", (stream: ServerHttp2Stream, headers) => {
    stream.on("error", () => {});
    if (headers[":path"] === "/slow") return;
    stream.respond({ ":status": 200 });
    stream.end("ok");
  });
  const params = { url: served.url, version: "2" };
  await assertRejects(
    () => runHttp({ get: "/slow", ...params, timeout: "400ms" }, context),
    StepError,
    "the request timed out after 400ms while waiting for the answer of 127.0.0.1",
  );
  assertEquals((await runHttp({ get: "/", ...params }, context)).res.body, "ok");
  assertEquals(served.sessions, 1);
});

Deno.test("http takes the version that a server offers", async () => {
  await using context = actionContext();
  await using served = await http2Server("h2");
  served.server.on("stream", (stream: ServerHttp2Stream) => {
    stream.respond({ ":status": 200 });
    stream.end("ok");
  });
  const params = { tls, version: "auto" };
  assertEquals((await runHttp({ get: served.url, ...params }, context)).res.version, "2");
  await using plain = withServer(() => new Response("in"));
  const { res } = await runHttp({ get: plain.url, ...params }, context);
  assertEquals([res.version, res.body], ["1.1", "in"]);
});

Deno.test("http sends a file and saves a body over HTTP/2", async () => {
  await using context = actionContext();
  await using served = await http2Server("h2c");
  served.server.on("stream", (stream: ServerHttp2Stream) => {
    stream.respond({ ":status": 200 });
    stream.pipe(stream);
  });
  const content = "0123456789abcdef".repeat(50_000);
  await withFiles({ "a.bin": content }, async (cwd) => {
    const { res } = await runHttp(
      { put: served.url, version: 2, file: `${cwd}/a.bin`, save: `${cwd}/b.bin` },
      context,
    );
    assertEquals([res.size, res.body], [content.length, null]);
    assertEquals(await Deno.readTextFile(`${cwd}/b.bin`) === content, true);
  });
});

Deno.test("http lets a server send megabytes before it says that it has read them", async () => {
  await using context = actionContext();
  await using served = await http2Server("h2c");
  const windows: unknown[] = [];
  served.server.on("session", (session) => {
    session.on("remoteSettings", ({ initialWindowSize }) => windows.push(initialWindowSize));
  });
  served.server.on("stream", (stream: ServerHttp2Stream) => {
    const { remoteWindowSize = 0 } = stream.session?.state ?? {};
    stream.respond({ ":status": 200 });
    stream.end(String(remoteWindowSize));
  });
  const { res } = await runHttp({ get: served.url, version: "2" }, context);
  assertEquals(windows, [4 * 1024 ** 2]);
  assert(Number(res.body) > 15 * 1024 ** 2, String(res.body));
});

Deno.test("http takes an answer over HTTP/2 that comes before the server has read the body", async () => {
  await using context = actionContext();
  await using served = await http2Server("h2c");
  served.server.on("stream", (stream: ServerHttp2Stream) => {
    stream.on("data", () => {});
    stream.pause();
    stream.respond({ ":status": 413 });
    stream.end("too large");
  });
  await withFiles({ "a.bin": new Uint8Array(8_000_000) }, async (cwd) => {
    const params = { put: served.url, version: 2, file: `${cwd}/a.bin`, timeout: "5s" };
    const { res } = await runHttp(params, context);
    assertEquals([res.code, res.body], [413, "too large"]);
  });
});

Deno.test("http sends many requests at once over one session, without a warning", async () => {
  await using context = actionContext();
  await using served = await http2Server("h2c");
  const all: ServerHttp2Stream[] = [];
  const count = 20;
  served.server.on("stream", (stream: ServerHttp2Stream) => {
    if (all.push(stream) < count) return;
    for (const each of all) {
      each.respond({ ":status": 200 });
      each.end("ok");
    }
  });
  const warnings: string[] = [];
  const warn = ({ message }: Error) => void warnings.push(message);
  process.on("warning", warn);
  try {
    const params = { get: served.url, version: "2" };
    const results = Array.from({ length: count }, () => runHttp(params, context));
    assertEquals(new Set((await Promise.all(results)).map(({ res }) => res.body)).size, 1);
    assertEquals([served.sessions, warnings], [1, []]);
  } finally {
    process.off("warning", warn);
  }
});

/** Responses of which a part is missing, with the exit code of curl, and such that only look so. */
const ENDINGS: Readonly<Record<string, (stream: RawStream) => void>> = {
  "whole": (stream) => stream.headers().data("hello", true).send(),
  "whole, with its length": (stream) =>
    stream.headers({ "content-length": 5 }).data("hello", true).send("close"),
  "whole, then reset": (stream) => stream.headers().data("hello", true).reset(8).send(),
  "whole, after GOAWAY": (stream) => stream.headers().goaway().data("hello", true).send("close"),
  "whole, ended by trailers": (stream) =>
    stream.headers().data("hello").trailers({ x: "y" }).send(),
  "18: closed": (stream) => stream.headers().data("hello").send("close"),
  "18: closed, with a length": (stream) =>
    stream.headers({ "content-length": 10 }).data("hello").send("close"),
  "18: closed in the middle of a frame": (stream) =>
    stream.headers({ "content-length": 5 }).raw("\0\0\x05\0\x01\0\0\0\x01he").send("close"),
  "18: closed after the headers": (stream) => stream.headers().send("close"),
  "18: closed before the headers": (stream) => stream.send("close"),
  "18: GOAWAY": (stream) => stream.headers().data("hello").goaway().send("close"),
  "18: GOAWAY with an error": (stream) =>
    stream.headers().data("hello").goaway(stream.id, 2).send("close"),
  "56: connection reset": (stream) => stream.headers().data("hello").send("reset"),
  "52: NO_ERROR": (stream) => stream.headers().data("hello").reset(0).send(),
  "52: NO_ERROR, with a length": (stream) =>
    stream.headers({ "content-length": 10 }).data("hello").reset(0).send(),
  "52: NO_ERROR after the headers": (stream) => stream.headers().reset(0).send(),
  "92: NO_ERROR before the headers": (stream) => stream.reset(0).send(),
  "92: CANCEL": (stream) => stream.headers().data("hello").reset(8).send(),
  "92: CANCEL after the headers": (stream) => stream.headers().reset(8).send(),
  "92: INTERNAL_ERROR": (stream) => stream.headers().data("hello").reset(2).send(),
  "92: fewer bytes than the length": (stream) =>
    stream.headers({ "content-length": 10 }).data("hello", true).send(),
  "92: more bytes than the length": (stream) =>
    stream.headers({ "content-length": 3 }).data("hello", true).send(),
  "92: a length, and no body": (stream) => stream.headers({ "content-length": 5 }, true).send(),
};

Deno.test("a response over HTTP/2 that is cut is a failure, and nothing of it is saved", async () => {
  await withFiles({}, async (cwd) => {
    for (const [name, answer] of Object.entries(ENDINGS)) {
      await using context = actionContext();
      await using served = await rawHttp2(answer);
      const params = { get: served.url, version: "2" };
      const isWhole = name.startsWith("whole");
      for (const save of [undefined, `${cwd}/${name}`]) {
        const found = await runHttp({ ...params, ...save ? { save } : {} }, context)
          .then(({ res }) => `${res.size}`, (error) => error.constructor.name);
        assertEquals([name, found], [name, isWhole ? "5" : "StepError"]);
      }
    }
    const saved = Object.keys(ENDINGS).filter((name) => name.startsWith("whole")).sort();
    assertEquals([...Deno.readDirSync(cwd)].map(({ name }) => name).sort(), saved);
  });
});
