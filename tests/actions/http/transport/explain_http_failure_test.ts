import { assertEquals, assertRejects, assertStringIncludes } from "@std/assert";
import { explainFailure } from "../../../../src/actions/http/transport/explain_http_failure.ts";
import { planRequest } from "../../../../src/actions/http/request/read_request.ts";
import { DEFAULT_CONNECTION } from "../../../../src/actions/http/connection/connection.ts";
import { runHttp } from "../../../../src/actions/http/run_http.ts";
import { SendFailure } from "../../../../src/actions/http/transport/model.ts";
import { denoHost } from "../../../../src/host/deno_host.ts";
import { StepError } from "../../../../src/base/errors.ts";
import { actionContext } from "../../../support/action_context.ts";
import { rawServer } from "../../../support/servers/raw_server.ts";

const GARBAGE: readonly (readonly [what: string, answer: string, message: string])[] = [
  ["nothing", "", "closed the connection without an answer"],
  ["half a head", "HTTP/1.1 200 O", "closed the connection without an answer"],
  ["garbage", "SSH-2.0-OpenSSH\r\n", "is not HTTP (HPE_"],
  [
    "the status code 000",
    "HTTP/1.1 000 x\r\nContent-Length: 0\r\n\r\n",
    "has the invalid status code 000",
  ],
  ["an alert of TLS", "\x15\x03\x01\0\x02\x02\x46", "expects TLS, not plain HTTP"],
  ["the settings of HTTP/2", "\0\0\0\x04\0\0\0\0\0", "speaks HTTP/2, not HTTP/1.1"],
  ["a page alone", "<html></html>", "is not HTTP (HPE_"],
  [
    "two lengths",
    "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n",
    "is not HTTP (HPE_",
  ],
  [
    "a head without end",
    `HTTP/1.1 200 OK\r\nA: ${"a".repeat(100_000)}\r\n\r\n`,
    "sent are larger than 16 KB (HPE_HEADER_OVERFLOW)",
  ],
  [
    "a part of the body",
    "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
    "closed the connection after 3 bytes of the body, before its end",
  ],
  [
    "a part of a chunk",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
    "closed the connection after 3 bytes of the body, before its end",
  ],
  [
    "a bad chunk",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    "sent is not valid HTTP",
  ],
  [
    "another protocol",
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
    "switched to another protocol (101)",
  ],
];

const EXPECTS_TLS = 'if it expects TLS there, use "https://"';

const HINTS: Readonly<Record<string, string>> = {
  "nothing": EXPECTS_TLS,
  "half a head": EXPECTS_TLS,
  "an alert of TLS": 'use "https://"',
  "the settings of HTTP/2": 'use http with version: "2", or grpc if it is a gRPC server',
};

for (const [what, answer, message] of GARBAGE) {
  Deno.test(`http explains a server that answers with ${what}`, async () => {
    await using context = actionContext();
    await using server = rawServer(async (connection) => {
      await connection.request();
      await connection.send(answer);
      connection.close();
    });
    const error = await assertRejects(
      () => runHttp({ post: `${server.url}/x`, body: "b", headers: { Upgrade: "x" } }, context),
      StepError,
      message,
    );
    const address = `127.0.0.1 port ${server.port}`;
    const isRead = / body|status code/.test(message) || what === "a bad chunk";
    const action = isRead ? "read the response to" : "send";
    assertStringIncludes(error.message, `cannot ${action} POST "${server.url}/x": `);
    assertStringIncludes(error.message, address);
    // What answers without TLS does not expect it.
    assertEquals(error.hint, HINTS[what]);
    assertEquals(error.details.req?.method, "POST");
    assertEquals(server.requests.length, 1);
  });
}

Deno.test("http explains a protocol upgrade that was not requested", async () => {
  await using context = actionContext();
  await using server = rawServer(async (connection) => {
    await connection.request();
    await connection.send(
      "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n",
    );
    await connection.closed();
  });
  await assertRejects(
    () => runHttp({ get: server.url }, context),
    StepError,
    "switched to another protocol (101)",
  );
});

Deno.test("http explains a connection that is refused", async () => {
  await using context = actionContext();
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr;
  listener.close();
  const error = await assertRejects(
    () => runHttp({ get: `http://127.0.0.1:${port}/x` }, context),
    StepError,
    `cannot send GET "http://127.0.0.1:${port}/x": 127.0.0.1 port ${port} refused the connection (ECONNREFUSED)`,
  );
  assertEquals(error.hint, "is the server running there?");
});

Deno.test("http explains a host that does not exist", async () => {
  await using context = actionContext();
  await assertRejects(
    () => runHttp({ get: "http://nowhere.invalid/" }, context),
    StepError,
    'cannot send GET "http://nowhere.invalid/": cannot resolve host "nowhere.invalid" (ENOTFOUND)',
  );
});

Deno.test("http names the permission that it needs", async () => {
  const script = new URL("../../../../src/actions/http/run_http.ts", import.meta.url);
  const support = new URL("../../../support/action_context.ts", import.meta.url);
  const program = `
    import { runHttp } from ${JSON.stringify(script.href)};
    import { actionContext } from ${JSON.stringify(support.href)};
    for (const host of ["127.0.0.1:9", "nowhere.invalid"]) {
      const error = await runHttp({ get: "http://" + host + "/" }, actionContext()).catch((e) => e);
      console.log(error.name, error.message, error.hint);
    }`;
  const path = await Deno.makeTempFile({ suffix: ".ts" });
  await Deno.writeTextFile(path, program);
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "--no-prompt", "--allow-read", "--allow-env", path],
    stderr: "inherit",
  }).output();
  await Deno.remove(path);
  assertEquals(
    new TextDecoder().decode(stdout),
    `StepError cannot send GET "http://127.0.0.1:9/": Deno does not allow access to 127.0.0.1 port 9 run it with deno run --allow-net=127.0.0.1:9
StepError cannot send GET "http://nowhere.invalid/": Deno does not allow access to nowhere.invalid port 80 run it with deno run --allow-net=nowhere.invalid:80
`,
  );
});

const CODES: readonly (readonly [code: string, message: string])[] = [
  ["ETIMEDOUT", "h port 443: connection timed out (ETIMEDOUT)"],
  ["EHOSTUNREACH", "h port 443 is unreachable (EHOSTUNREACH)"],
  ["EAI_AGAIN", 'cannot resolve host "h": the name server did not answer (EAI_AGAIN)'],
  ["CERT_REVOKED", "the certificate of h port 443 is not trusted (CERT_REVOKED)"],
];

for (const [code, message] of CODES) {
  Deno.test(`explainFailure() puts ${code} in plain words`, async () => {
    const { request } = planRequest({ get: "https://h/x" });
    const cause = Object.assign(new Error("no"), { code });
    const failure = new SendFailure(cause, request, "connecting", 0, DEFAULT_CONNECTION);
    const error = await explainFailure(failure, request, {}, denoHost().clock);
    assertEquals(
      error instanceof StepError && error.message,
      `cannot send GET "https://h/x": ${message}`,
    );
  });
}

Deno.test("http refuses a negative number of redirects that a template gave", async () => {
  await using context = actionContext();
  await assertRejects(
    () => runHttp({ get: "http://127.0.0.1:9/", max_redirects: "-1" }, context),
    StepError,
    'cannot run http: "max_redirects" must be 0 or greater, not -1',
  );
});
