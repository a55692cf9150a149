import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { fromFileUrl } from "@std/path/from-file-url";
import type { Dict } from "../../../src/action/action.ts";
import { grpc, testHint } from "../../../src/actions/grpc/grpc.ts";
import { linkFiles, undefinedTypes } from "../../../src/actions/grpc/link_files.ts";
import { create, fromBinary, fromJson, toBinary, toJson } from "@bufbuild/protobuf";
import { FileDescriptorProtoSchema } from "@bufbuild/protobuf/wkt";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext, type TestContext } from "../../support/action_context.ts";
import { grpcShop, type Shop } from "../../support/servers/grpc_shop.ts";
import { rawHttp2, type RawStream } from "../../support/servers/raw_http2.ts";
import { rawServer } from "../../support/servers/raw_server.ts";
import { startTool } from "../../support/servers/tool_server.ts";
import { withServer } from "../../support/servers/with_server.ts";
import { runnerOf } from "../../support/run_action.ts";

const runGrpc = runnerOf(grpc);

const FIXTURES = fromFileUrl(new URL("../../fixtures/", import.meta.url));
const PROTO = {
  proto: `${FIXTURES}grpc/shop.proto`,
  import_paths: `${FIXTURES}grpc`,
};

function shopCall(shop: Shop, context: TestContext) {
  return async (params: Dict) =>
    await runGrpc({ addr: shop.addr, service: "Shop", ...params }, context);
}

const ITEM = {
  id: "1",
  name: "A thing",
  price: { currency: "EUR", cents: 0, rates: [1, 2] },
  kind: "GAME",
  tags: ["a", "b"],
  stock: { here: 3 },
  addedAt: "2026-01-02T03:04:05Z",
  serial: "9007199254740993",
  maker: "me",
  weight: 0,
  picture: "AQID",
  parts: [{ name: "lid", items: [{ id: "2" }] }],
  extra: { a: [1, "b", null, true] },
  sizes: [1, 2, 3],
  kinds: { x: "BOOK" },
};

Deno.test("grpc asks for the older reflection whatever the server answers about the newer", async () => {
  for (const refusal of [2, 5, 7, 12, 13, 16]) {
    await using shop = await grpcShop({ reflection: "v1alpha", refusal });
    await using context = actionContext();
    const { res } = await shopCall(shop, context)({ method: "GetItem", body: { id: "7" } });
    assertEquals((res.body as Dict).id, "7");
  }
  await using shop = await grpcShop({ reflection: "none", refusal: 7 });
  await using context = actionContext();
  const { message } = await assertRejects(
    () => shopCall(shop, context)({ method: "GetItem", body: { id: "7" } }),
    StepError,
  );
  assertStringIncludes(message, "by reflection: not for you (PERMISSION_DENIED)");
});

Deno.test("grpc calls methods of every kind, found by reflection and in files", async () => {
  for (const reflection of ["v1", "v1alpha"] as const) {
    await using shop = await grpcShop({ reflection });
    await using context = actionContext();
    const call = shopCall(shop, context);
    for (const files of [{}, PROTO]) {
      const { req, res, status, brief } = await call({
        ...files,
        method: "GetItem",
        body: { id: "7" },
        metadata: { "X-Token": "abc", absent: null },
      });
      const body = { id: "7", name: "Ann's", price: { currency: "EUR" }, kind: "BOOK" };
      assertEquals([status, brief], [0, "OK"]);
      assertEquals(req.service, "shop.v1.Shop");
      assertEquals(
        [res.code, res.status_code, res.status_message, res.body, res.messages, res.details],
        [0, "OK", "", body, [body], []],
      );
      assertEquals(res.rawbody, JSON.stringify(body));
      assertEquals((res.metadata as Dict)["x-token"], "abc");
      assertEquals(res.trailers, { "x-trailer": "end", "x-bytes-bin": "AQID" });

      const echo = await call({ ...files, method: "EchoItem", body: ITEM });
      assertEquals(echo.res.body, ITEM);
      const serial = { serial: 9007199254740993n };
      const long = await call({ ...files, method: "EchoItem", body: serial });
      assertEquals(long.res.body, { serial: "9007199254740993" });
      const text = await call({
        ...files,
        method: "EchoItem",
        body: '{"added_at":"2026-01-02T03:04:05Z"}',
      });
      assertEquals(text.res.body, { addedAt: "2026-01-02T03:04:05Z" });

      const list = await call({ ...files, method: "ListItems", body: { count: 3 } });
      assertEquals(list.res.messages, [{ id: "1" }, { id: "2" }, { id: "3" }]);
      assertEquals(list.res.body, { id: "3" });
      const none = await call({ ...files, method: "ListItems" });
      assertEquals([none.res.messages, none.res.body, none.res.rawbody], [[], null, ""]);

      const add = await call({ ...files, method: "AddItems", body: [{ id: "1" }, {}, {}] });
      assertEquals([add.req.body, add.res.body], [[{ id: "1" }, {}, {}], { count: 3 }]);
      assertEquals((await call({ ...files, method: "AddItems" })).res.body, {});
      assertEquals((await call({ ...files, method: "AddItems", body: { id: "1" } })).res.body, {
        count: 1,
      });
      const trade = await call({ ...files, method: "Trade", body: [{ id: "a" }, { id: "b" }] });
      assertEquals(trade.res.messages, [{ id: "a!" }, { id: "b!" }]);
    }
    assertEquals(shop.seen.filter((line) => line === "session").length, 1);
    // Reflection is cached: one request for the list, one for the service, one for imports.
    assertEquals(
      shop.seen.filter((line) => line === "ServerReflectionInfo begins").length,
      reflection === "v1" ? 3 : 4,
    );
  }
});

Deno.test("grpc returns a status that is not OK as a result, with its details", async () => {
  await using shop = await grpcShop();
  await using context = actionContext();
  const call = shopCall(shop, context);
  const { res, status, brief } = await call({ method: "GetItem", body: { id: "missing" } });
  assertEquals([status, brief], [5, "NOT_FOUND"]);
  assertEquals(
    [res.code, res.status_code, res.status_message, res.body, res.messages],
    [5, "NOT_FOUND", 'there is no item "ü"', null, []],
  );
  assertEquals(res.details, [{
    "@type": "type.googleapis.com/google.rpc.BadRequest",
    fieldViolations: [{ field: "id" }],
  }]);
  const late = await call({ method: "Wait", deadline: "400ms" });
  assertEquals([late.status, late.res.status_code], [4, "DEADLINE_EXCEEDED"]);
  await shop.untilSeen("Wait ended 8");
});

Deno.test("grpc asks for the health of a server and of a service", async () => {
  await using shop = await grpcShop({ reflection: "none" });
  await using context = actionContext();
  const ask = async (health: string | boolean) => {
    const { res, status, brief } = await runGrpc({ addr: shop.addr, health }, context);
    return [status, brief, res.body, res.status_code];
  };
  assertEquals(await ask(true), [0, "SERVING", { status: "SERVING" }, "OK"]);
  assertEquals(await ask(""), [0, "SERVING", { status: "SERVING" }, "OK"]);
  assertEquals(await ask("shop.v1.Shop"), [0, "SERVING", { status: "SERVING" }, "OK"]);
  assertEquals(await ask("broken"), [1, "NOT_SERVING", { status: "NOT_SERVING" }, "OK"]);
  assertEquals(await ask("other"), [5, "NOT_FOUND", null, "NOT_FOUND"]);
});

/** Parameters of a call that cannot be made, with the message and the hint. */
const MISTAKES: readonly (readonly [params: Dict, message: string, hint?: string])[] = [
  [
    { method: "GetItm" },
    'cannot run grpc: unknown method "GetItm" of shop.v1.Shop',
    'did you mean "GetItem"?',
  ],
  [
    { method: "Delete" },
    'cannot run grpc: unknown method "Delete" of shop.v1.Shop',
    "it has GetItem, EchoItem, ListItems, AddItems, Trade, Wait",
  ],
  [
    { service: "Shap", method: "GetItem" },
    'cannot run grpc: unknown service "Shap" at 127.0.0.1 port PORT',
    'did you mean "Shop"?',
  ],
  [
    { service: "shop.v2.Shop", method: "GetItem" },
    'cannot run grpc: unknown service "shop.v2.Shop" at 127.0.0.1 port PORT',
    'did you mean "shop.v1.Shop"?',
  ],
  [
    { method: "EchoItem", body: { nam: "x" } },
    'cannot call shop.v1.Shop/EchoItem: unknown field "nam" in body, which is a shop.v1.Item',
    'did you mean "name"?',
  ],
  [
    { method: "EchoItem", body: { parts: [{}, { items: [{ kind: "GAMES" }] }] } },
    'cannot call shop.v1.Shop/EchoItem: unknown value "GAMES" for body.parts[1].items[0].kind, which is a shop.v1.Kind',
    'did you mean "GAME"?',
  ],
  [
    { method: "EchoItem", body: { price: { currency: "EUR", value: 1 } } },
    'cannot call shop.v1.Shop/EchoItem: unknown field "value" in body.price, which is a shared.Money',
    "it has currency, cents, rates",
  ],
  [
    { method: "EchoItem", body: { id: 7 } },
    "cannot call shop.v1.Shop/EchoItem: body: field shop.v1.Item.id: expected string, got 7",
  ],
  [
    { method: "GetItem", body: [{}] },
    'cannot call shop.v1.Shop/GetItem: it takes one message, and "body" is a list',
    "a list is for methods that take a stream",
  ],
  [{ method: "GetItem", body: "{" }, 'cannot run grpc: "body" is not JSON: '],
  [
    { method: "GetItem", metadata: { "a b": "c" } },
    'cannot run grpc: invalid name "a b" in "metadata"',
  ],
  [
    { method: "GetItem", metadata: { "grpc-timeout": "1S" } },
    'cannot run grpc: "grpc-timeout" in "metadata" is a name of the protocol itself',
  ],
  [
    { method: "GetItem", metadata: { a: "ü" } },
    'cannot run grpc: "a" in "metadata" has a character that cannot be sent',
    'write its bytes as base64 under a name that ends in "-bin"',
  ],
  [
    { method: "GetItem", metadata: { "a-bin": "ü" } },
    'cannot run grpc: "a-bin" in "metadata" must be base64, as its name ends in "-bin"',
  ],
  [
    { method: "GetItem", proto: `${FIXTURES}grpc/lost.proto` },
    "cannot use the .proto files: no such Type or Enum 'elsewhere.Thing' in Type .lost.Request",
    '"elsewhere/thing.proto" was not found: "import_paths" names the directories of imported files',
  ],
  [
    { method: "GetItem", ...PROTO, service: "Shopp" },
    'cannot run grpc: unknown service "Shopp" in "proto"',
    'did you mean "Shop"?',
  ],
  [
    { method: "GetItem", proto: `${FIXTURES}grpc/none.proto` },
    `cannot read the file "${FIXTURES}grpc/none.proto": no such file (ENOENT)`,
  ],
  [
    { method: "GetItem", proto: `${FIXTURES}tls/good.pem` },
    `cannot read "${FIXTURES}tls/good.pem" line 1: illegal token '-----BEGIN'`,
  ],
  [
    { method: "GetItem", descriptor_set: `${FIXTURES}tls/good.pem` },
    `cannot read the descriptor set "${FIXTURES}tls/good.pem": it is not one`,
    "write it with protoc --include_imports --descriptor_set_out=api.pb api.proto",
  ],
  [
    { addr: "localhost", method: "GetItem" },
    'cannot run grpc: invalid address "localhost"',
    "write a host and a port: localhost:50051",
  ],
  [
    { addr: "127.0.0.1:1", method: "GetItem" },
    "cannot connect to 127.0.0.1 port 1: 127.0.0.1 port 1 refused the connection (ECONNREFUSED)",
    "is the server running there?",
  ],
  [
    { addr: "host.invalid:1", method: "GetItem" },
    'cannot connect to host.invalid port 1: cannot resolve host "host.invalid" (ENOTFOUND)',
  ],
  [
    { method: "Wait", timeout: "400ms" },
    "timed out after 400ms while waiting for the answer of shop.v1.Shop/Wait from 127.0.0.1 port PORT",
  ],
];

Deno.test("grpc says what is wrong with a call", async (test) => {
  await using shop = await grpcShop();
  await using context = actionContext();
  const call = shopCall(shop, context);
  for (const [params, message, hint] of MISTAKES) {
    await test.step(JSON.stringify(params).slice(0, 80), async () => {
      const error = await assertRejects(() => call(params), StepError);
      const said = error.message.replaceAll(String(shop.port), "PORT");
      assertEquals(said.slice(0, message.length), message);
      if (hint !== undefined) assertEquals(error.hint, hint);
    });
  }
  await shop.untilSeen("Wait ended 8");
  assertEquals(context.stops, 0);
});

Deno.test("grpc says that a server offers no reflection", async () => {
  await using shop = await grpcShop({ reflection: "none" });
  await using context = actionContext();
  const error = await assertRejects(
    () => shopCall(shop, context)({ method: "GetItem" }),
    StepError,
    `127.0.0.1 port ${shop.port} does not offer server reflection (UNIMPLEMENTED)`,
  );
  assertStringIncludes(error.hint!, "proto: service.proto");
});

const TYPE = { "content-type": "application/grpc" };
const OK = { "grpc-status": 0 };
/** SERVING as the answer of the health service. */
const SERVING = Uint8Array.of(0, 0, 0, 0, 2, 8, 1);

/** Answers to the health check, and what becomes of each. */
const ANSWERS: Readonly<Record<string, (stream: RawStream) => void>> = {
  "SERVING": (stream) => stream.headers(TYPE).data(SERVING).trailers(OK).send(),
  "UNIMPLEMENTED: the server sent 0 messages instead of one": (stream) =>
    stream.headers(TYPE).trailers(OK).send(),
  "UNIMPLEMENTED: the server sent 0 messages instead of one ": (stream) =>
    stream.headers({ ...TYPE, ...OK }, true).send(),
  "UNIMPLEMENTED: the server sent 2 messages instead of one": (stream) =>
    stream.headers(TYPE).data(SERVING).data(SERVING).trailers(OK).send(),
  "INVALID_ARGUMENT: protocol error: incomplete envelope": (stream) =>
    stream.headers(TYPE).data(SERVING.subarray(0, 6)).trailers(OK).send(),
  "INTERNAL: protocol error: missing status": (stream) =>
    stream.headers(TYPE).data(SERVING, true).send(),
  "INTERNAL: protocol error: missing status ": (stream) =>
    stream.headers(TYPE).data(SERVING).reset(0).send(),
  "CANCELLED: the server reset the call (HTTP/2 error code 8) without a status": (stream) =>
    stream.headers(TYPE).data(SERVING).reset(8).send(),
  "the server closed it": (stream) => stream.headers(TYPE).data(SERVING).send("close"),
  "the server closed it ": (stream) => stream.headers(TYPE).data(SERVING).goaway().send("close"),
};

Deno.test("grpc takes no answer that is cut or has no message for a success", async () => {
  for (const [expected, answer] of Object.entries(ANSWERS)) {
    await using context = actionContext();
    await using served = await rawHttp2(answer);
    const found = await runGrpc({ addr: `127.0.0.1:${served.port}`, health: true }, context).then(
      ({ res, status }) =>
        status === 0 ? (res.body as Dict).status : `${res.status_code}: ${res.status_message}`,
      ({ message }) => /the server closed it$/.exec(message)?.[0] ?? message,
    );
    assertEquals(found, expected.trim());
  }
});

Deno.test("grpc needs no file that only options come from", async () => {
  await using shop = await grpcShop();
  await using context = actionContext();
  const proto = `${FIXTURES}grpc/annotated.proto`;
  const { req, res } = await shopCall(shop, context)({
    ...{ service: "Things", method: "Echo", proto, body: { ID: "1", size: 0 } },
  });
  assertEquals([req.service, res.status_code], ["annotated.Things", "UNIMPLEMENTED"]);
});

Deno.test("grpc ends a stream after max_messages", async () => {
  await using shop = await grpcShop();
  await using context = actionContext();
  const { res, status } = await shopCall(shop, context)({
    method: "ListItems",
    body: { count: 100_000 },
    max_messages: 2,
  });
  assertEquals([status, res.messages], [0, [{ id: "1" }, { id: "2" }]]);
});

Deno.test("grpc receives 10 MB, compressed messages too, and sends as much", async () => {
  await using shop = await grpcShop();
  await using context = actionContext();
  const call = shopCall(shop, context);
  const count = 10_000_000;
  for (const metadata of [{}, { "x-packed": "yes" }] as Dict[]) {
    const { res } = await call({ method: "GetItem", body: { id: "large", count }, metadata });
    assertEquals(((res.body as Dict).name as string).length, count);
  }
  const name = "y".repeat(count);
  const { res } = await call({ method: "EchoItem", body: { name } });
  assertEquals((res.body as Dict).name === name, true);
});

Deno.test("grpc makes 100 calls in a row and 20 at once over one connection", async () => {
  await using shop = await grpcShop();
  await using context = actionContext();
  const call = shopCall(shop, context);
  const get = async (id: string) => {
    const { res } = await call({ method: "GetItem", body: { id } });
    return (res.body as Dict).id;
  };
  const ids = Array.from({ length: 20 }, (_, at) => `${at}`);
  assertEquals(await Promise.all(ids.map(get)), ids);
  for (let at = 0; at < 100; at++) assertEquals(await get(`${at}`), `${at}`);
  assertEquals(shop.seen.filter((line) => line === "session").length, 1);
  await call({ method: "GetItem", fresh: true });
  await call({ method: "GetItem", connection: "a" });
  await shop.untilSeen("GetItem ended");
  assertEquals(shop.seen.filter((line) => line === "session").length, 3);
});

Deno.test("grpc leaves it to the next step to connect where one fails to", async () => {
  await using shop = await grpcShop();
  await using first = actionContext();
  await using second = actionContext();
  const params = { addr: shop.addr, service: "Shop", method: "GetItem" };
  const stopped = runGrpc(params, first);
  const other = runGrpc(params, { ...second, scope: first.scope });
  first.stop(new StepError("stopped"));
  await assertRejects(() => stopped, StepError, "stopped");
  assertEquals((await other).status, 0);
});

Deno.test("grpc connects again after the server closed the connection", async () => {
  await using context = actionContext();
  const shop = await grpcShop();
  const call = { addr: shop.addr, service: "Shop", method: "GetItem" };
  assertEquals((await runGrpc(call, context)).status, 0);
  const lost = assertRejects(
    () => runGrpc({ ...call, method: "Wait" }, context),
    StepError,
    `the connection to 127.0.0.1 port ${shop.port} was lost while waiting for the answer of shop.v1.Shop/Wait: `,
  );
  await shop.untilSeen("Wait begins");
  await shop[Symbol.asyncDispose]();
  await lost;
  await assertRejects(() => runGrpc(call, context), StepError, "(ECONNREFUSED)");
});

Deno.test("grpc says what it waited for when a server is silent", async () => {
  await using context = actionContext();
  await using server = rawServer(({ closed }) => closed());
  const call = { addr: `127.0.0.1:${server.port}`, service: "S", method: "M", timeout: "1s" };
  const address = `127.0.0.1 port ${server.port}`;
  for (
    const [tls, activity, phase] of [
      [false, `waiting for the answer of server reflection from ${address}`, ""],
      [true, `connecting to ${address}`, " in the TLS handshake"],
    ] as const
  ) {
    const error = await assertRejects(() => runGrpc({ ...call, tls }, context), StepError);
    assertEquals(error.message, `timed out after 1s${phase} while ${activity}`);
  }
});

Deno.test("grpc reports a server that is not a gRPC server", async () => {
  await using context = actionContext();
  await using server = withServer(() => new Response("hello"));
  const call = { addr: `127.0.0.1:${server.port}`, service: "Shop", method: "GetItem" };
  await assertRejects(
    () => runGrpc(call, context),
    StepError,
    "the response is not one of gRPC: HTTP 200 with the content type text/plain;charset=UTF-8",
  );
});

const TLS = {
  cert: `${FIXTURES}tls/good.pem`,
  key: `${FIXTURES}tls/good_key.pem`,
};
const CA = `${FIXTURES}tls/authority.pem`;

Deno.test("grpc speaks TLS, spelled in both ways, and explains certificates", async () => {
  await using shop = await grpcShop({ tls: TLS });
  await using context = actionContext();
  const call = shopCall(shop, context);
  const get = async (params: Dict) => (await call({ method: "GetItem", ...params })).status;
  assertEquals(await get({ tls: { ca: CA } }), 0);
  assertEquals(await get({ tls: true, ca_file: CA }), 0);
  assertEquals(await get({ tls: true, insecure: true }), 0);
  assertEquals(await get({ tls: { ca: CA }, addr: `localhost:${shop.port}` }), 0);
  const address = `127.0.0.1 port ${shop.port}`;
  await assertRejects(
    () => get({ tls: true }),
    StepError,
    `cannot connect to ${address}: the certificate of ${address} is signed by an unknown certificate authority`,
  );
  const error = await assertRejects(() => get({}), StepError, "was lost while waiting for");
  assertStringIncludes(error.hint!, '"tls: true"');
});

Deno.test("grpc explains a certificate that has expired", async () => {
  const tls = { cert: `${FIXTURES}tls/expired.pem`, key: `${FIXTURES}tls/expired_key.pem` };
  await using shop = await grpcShop({ tls });
  await using context = actionContext();
  await assertRejects(
    () => shopCall(shop, context)({ method: "GetItem", tls: { ca: CA } }),
    StepError,
    "(CERT_HAS_EXPIRED)",
  );
});

Deno.test("grpc presents a client certificate", async () => {
  await using shop = await grpcShop({ tls: { ...TLS, clients: CA } });
  await using context = actionContext();
  const call = shopCall(shop, context);
  const files = { ca: CA, ...TLS };
  assertEquals((await call({ method: "GetItem", tls: files })).status, 0);
  const other = { tls: true, ca_file: CA, cert_file: TLS.cert, key_file: TLS.key };
  assertEquals((await call({ method: "GetItem", ...other })).status, 0);
  const error = await assertRejects(() => call({ method: "GetItem", tls: { ca: CA } }), StepError);
  assertStringIncludes(`${error.message} ${error.hint}`, "client certificate");
});

Deno.test("grpc explains status by the health of the service, or by the status of the call", () => {
  const unhealthy = { code: 0, status_code: "OK", body: { status: "NOT_SERVING" } };
  assertEquals(
    testHint!(["status"], unhealthy),
    "the health of the service is NOT_SERVING; status is 0 for SERVING",
  );
  const refused = { code: 5, status_code: "NOT_FOUND", body: null };
  assertEquals(testHint!(["status"], refused)?.startsWith("status is the number"), true);
  assertEquals(testHint!(["res.code"], refused), undefined);
});

const CALL = { addr: "localhost:1", service: "a.B", method: "C" };

/** Parameters with what is wrong with them. */
const CHECKS: readonly (readonly [params: Dict, ...messages: string[]])[] = [
  [CALL],
  [{ ...CALL, addr: "{{vars.addr}}" }],
  [{ ...CALL, addr: "[::1]:50051", body: [{}], tls: { ca: "ca.pem" }, max_messages: 1 }],
  [{ addr: "localhost:1", health: true }],
  [{ addr: "localhost:1", health: "", service: "from.Defaults" }],
  [{ addr: "localhost:1" }, 'grpc needs "service" and "method", or "health"'],
  [{ addr: "localhost:1", service: "a.B" }, 'grpc needs "method"'],
  [
    { addr: "localhost:1", service: "a.B/C" },
    'grpc needs "method" (write service: a.B, method: C)',
  ],
  [{ ...CALL, health: true }, '"health" and "method" cannot be combined'],
  [
    { ...CALL, addr: "http://localhost:1" },
    'invalid address "http://localhost:1" (write a host and a port: localhost:50051)',
  ],
  [
    { ...CALL, addr: "localhost" },
    'invalid address "localhost" (write a host and a port: localhost:50051)',
  ],
  [{ ...CALL, proto: "a", descriptor_set: "b" }, '"proto" and "descriptor_set" cannot be combined'],
  [{ ...CALL, import_paths: "a" }, '"import_paths" belongs to "proto", which is not there'],
  [{ ...CALL, ca_file: "a" }, '"ca_file" needs "tls: true"'],
  [{ ...CALL, tls: true, cert_file: "a" }],
  [{ ...CALL, tls: true, key_file: "a" }, '"key_file" needs "cert_file"'],
  [{ ...CALL, tls: {}, insecure: true }, '"tls" as a map and "insecure" cannot be combined'],
  [{ ...CALL, max_messages: 0 }, '"max_messages" must be at least 1, not 0'],
  [{ ...CALL, data: {} }, 'unknown parameter "data" of grpc (the key is "body")'],
  [{ ...CALL, headers: {} }, 'unknown parameter "headers" of grpc (the key is "metadata")'],
];

Deno.test("grpc checks its parameters before the run", () => {
  for (const [params, ...messages] of CHECKS) {
    const found = grpc.problems!(params).map(({ message, hint }) =>
      hint === undefined ? message : `${message} (${hint})`
    );
    assertEquals(found, messages);
  }
});

const DIRECTORY = fromFileUrl(new URL("../../fixtures/grpc", import.meta.url));

Deno.test("grpc speaks to a server of the library of Node, whose reflection leaves much out", async () => {
  await using server = await startTool("grpc/grpc_server.ts", [DIRECTORY]);
  await using context = actionContext();
  const call = async (params: Dict) =>
    (await runGrpc({ addr: server.url, service: "Shop", ...params }, context)).res;
  const item = await call({ method: "GetItem", body: { id: "7" } });
  assertEquals(item.body, { id: "7", name: "Ann's", kind: "BOOK", serial: "9007199254740993" });
  assertEquals(item.trailers, { "x-trailer": "end" });
  const missing = await call({ method: "GetItem", body: { id: "missing" } });
  assertEquals([missing.status_code, missing.status_message], [
    "NOT_FOUND",
    'there is no item "ü"',
  ]);
  const echo = {
    price: { currency: "EUR", cents: 7, rates: [1, 2] },
    stock: { here: 3 },
    kinds: { x: "GAME" },
    addedAt: "2026-01-02T03:04:05Z",
    weight: 0,
    parts: [{ name: "lid", items: [{ id: "2" }] }],
  };
  assertEquals((await call({ method: "EchoItem", body: echo })).body, echo);
  const list = await call({ method: "ListItems", body: { count: 3 } });
  assertEquals(list.messages, [{ id: "1" }, { id: "2" }, { id: "3" }]);
  assertEquals((await call({ method: "AddItems", body: [{}, {}] })).body, { count: 2 });
  const trade = await call({ method: "Trade", body: [{ id: "a" }, { id: "b" }] });
  assertEquals(trade.messages, [{ id: "a!" }, { id: "b!" }]);
  const large = await call({ method: "GetItem", body: { id: "large", count: 10_000_000 } });
  assertEquals((large.body as Dict).name?.toString().length, 10_000_000);
  assertEquals((await call({ method: "Wait", deadline: "100ms" })).code, 4);
});

const MESSAGE = 11;
const STRING = 9;
const REPEATED = 3;
const OPTIONAL = 1;

/** The files as sent by servers built on protobuf.js: no dependencies and names as written. */
function files() {
  return [
    create(FileDescriptorProtoSchema, {
      name: "service.proto",
      package: "shop.v1",
      syntax: "proto3",
      messageType: [{
        name: "Item",
        field: [
          { name: "first_name", number: 1, label: OPTIONAL, type: STRING },
          { name: "parts", number: 2, label: REPEATED, type: MESSAGE, typeName: "Part" },
          { name: "price", number: 3, label: OPTIONAL, type: MESSAGE, typeName: "money.Price" },
          {
            ...{ name: "made_at", number: 4, label: OPTIONAL, type: MESSAGE },
            typeName: "google.protobuf.Timestamp",
          },
        ],
        nestedType: [{
          name: "Part",
          field: [{ name: "whole", number: 1, label: OPTIONAL, type: MESSAGE, typeName: "Item" }],
        }],
      }],
      service: [{
        name: "Shop",
        method: [{ name: "Get", inputType: "Item", outputType: ".shop.v1.Item" }],
      }],
    }),
    create(FileDescriptorProtoSchema, {
      name: "money.proto",
      package: "shop.money",
      syntax: "proto3",
      messageType: [{
        name: "Price",
        field: [{ name: "price_text", number: 1, label: OPTIONAL, type: STRING }],
      }],
    }),
  ];
}

Deno.test("linkFiles() finds types by relative names and adds JSON names and dependencies", () => {
  const types = linkFiles(files());
  const { input, output } = types.getService("shop.v1.Shop")!.method.get!;
  assertEquals(input, output);
  const item = {
    firstName: "tea",
    parts: [{ whole: { firstName: "leaf" } }],
    price: { priceText: "4.50" },
    madeAt: "2026-01-02T03:04:05Z",
  };
  const bytes = toBinary(input, fromJson(input, item));
  assertEquals(toJson(input, fromBinary(input, bytes)), item);
});

Deno.test("undefinedTypes() names what no file defines; standard types are always there", () => {
  assertEquals(undefinedTypes(files()), []);
  assertEquals(undefinedTypes(files().slice(0, 1)), ["money.Price"]);
});
