import { assertEquals, assertRejects } from "@std/assert";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import type { Dict } from "../../../src/action/action.ts";
import { ACTIONS } from "../../../src/actions/registry.ts";
import { StepError } from "../../../src/base/errors.ts";
import { actionContext } from "../../support/action_context.ts";
import { runnerOf } from "../../support/run_action.ts";
import { tlsCertificate, tlsPath } from "../../support/servers/tls_fixture.ts";

/** The first packet of MySQL: version, thread, salt, and that the server speaks TLS. */
const MYSQL_GREETING = (() => {
  const text = (value: string) => [...new TextEncoder().encode(value), 0];
  const flags = 0x8a00 | 0x800 | 0x1;
  const body = [
    ...[10, ...text("8.0.0"), 1, 0, 0, 0, ...text("12345678")],
    ...[flags & 255, flags >> 8, 45, 2, 0, 8, 0, 21, ...new Array<number>(10).fill(0)],
    ...[...text("123456789012"), ...text("mysql_native_password")],
  ];
  return Uint8Array.of(body.length, 0, 0, 0, ...body);
})();

/** The bytes by which a client of MySQL asks for TLS. */
const MYSQL_REQUEST = 36;

/** How a server starts TLS: what it sends first, and what it answers to the first packet. */
interface Opening {
  readonly greeting?: Uint8Array;
  readonly reply?: string;
}

/** A server that presents a certificate, and counts the bytes that it gets over TLS. */
async function countingServer(certificate: string, { greeting, reply }: Opening) {
  let bytes = 0;
  const listen = async (server: Server) => {
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    return (server.address() as AddressInfo).port;
  };
  const secure = createTlsServer(tlsCertificate(certificate), (socket) => {
    socket.on("data", (chunk: Uint8Array) => bytes += chunk.length);
    socket.on("error", () => {});
  });
  secure.on("tlsClientError", () => {});
  const securePort = await listen(secure);
  const closed: Promise<void>[] = [];
  const pass = (from: Socket, begun: Uint8Array = new Uint8Array()) => {
    const to = connect(securePort, "127.0.0.1");
    to.write(begun);
    from.pipe(to).pipe(from);
    to.on("error", () => {});
  };
  const outer = createServer((socket) => {
    closed.push(new Promise((resolve) => socket.once("close", () => resolve())));
    socket.on("error", () => {});
    if (greeting) socket.write(greeting);
    if (greeting === undefined && reply === undefined) return pass(socket);
    socket.once("data", (chunk: Uint8Array) => {
      if (reply !== undefined) socket.write(reply);
      // The handshake may follow the request of MySQL for TLS at once.
      pass(socket, chunk.subarray(greeting ? MYSQL_REQUEST : chunk.length));
    });
  });
  const port = await listen(outer);
  return {
    port,
    count: async () => {
      await Promise.all(closed);
      return bytes;
    },
    [Symbol.asyncDispose]: async () => {
      outer.close();
      secure.close();
      await Promise.all(closed);
    },
  };
}

const CASES:
  readonly (readonly [uses: string, params: (port: number) => Dict, opening: Opening])[] = [
    ["http", (port) => ({ get: `https://me:open-sesame@127.0.0.1:${port}/` }), {}],
    ["redis", (port) => ({ url: `rediss://:open-sesame@127.0.0.1:${port}`, command: "PING" }), {}],
    ["tcp", (port) => ({ host: "127.0.0.1", port, tls: true, send: "open-sesame" }), {}],
    [
      "imap",
      (port) => ({
        ...{ host: "127.0.0.1", port, username: "ann", password: "open-sesame" },
        commands: [{ name: "noop" }],
      }),
      {},
    ],
    [
      "smtp",
      (port) => ({
        ...{ addr: `127.0.0.1:${port}`, from: "a@b.example", to: "c@d.example", tls: true },
        auth: { username: "ann", password: "open-sesame" },
      }),
      {},
    ],
    [
      "db",
      (port) => ({
        dsn: `postgres://app:open-sesame@127.0.0.1:${port}/shop?sslmode=verify-full`,
        query: "SELECT 1",
      }),
      { reply: "S" },
    ],
    [
      "db",
      (port) => ({
        dsn: `mysql://app:open-sesame@127.0.0.1:${port}/shop?sslmode=verify-full`,
        query: "SELECT 1",
      }),
      { greeting: MYSQL_GREETING },
    ],
  ];

for (const [uses, params, opening] of CASES) {
  for (const [certificate, name] of [["good", "unknown"], ["expired", "expired"], ["other", ""]]) {
    const server = opening.reply ? " (PostgreSQL)" : opening.greeting ? " (MySQL)" : "";
    const ca = name === "unknown" ? "localhost.pem" : "authority.pem";
    Deno.test(`${uses}${server} sends nothing to a server whose certificate is ${certificate}`, async () => {
      const { load } = ACTIONS.find((one) => one.name === uses)!;
      const run = runnerOf(await load());
      await using context = actionContext();
      await using counting = await countingServer(certificate!, opening);
      const given = params(counting.port);
      const { dsn } = given;
      const trusted: Dict = dsn === undefined
        ? { ...given, tls: { ca: tlsPath(ca) } }
        : { ...given, dsn: `${dsn}&sslrootcert=${tlsPath(ca)}` };
      const error = await assertRejects(
        () => run(trusted, context),
        StepError,
        "the certificate of 127.0.0.1",
      );
      const cause = name === "unknown"
        ? /signed by an unknown certificate authority, "Test CA"/
        : name === "expired"
        ? /expired on 2025-03-01/
        : /is for another host: a\.example, b\.example/;
      assertEquals(cause.test(error.message), true, error.message);
      assertEquals(await counting.count(), 0);
    });
  }
}
