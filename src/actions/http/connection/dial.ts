import type { Socket } from "node:net";
import { authorityOf, type Endpoint, placeOf } from "../../../action/net/endpoint.ts";
import type { Connection } from "./connection.ts";
import type { Proxy } from "./proxy.ts";
import { proxyAuthorization, proxyTls } from "./proxy_access.ts";
import { proxyWords, type Route } from "./route.ts";

const { connect, isIP } = await import("node:net");

/** A proxy that did not let a connection through. */
export class ProxyFailure extends Error {
  constructor(message: string, readonly hint?: string) {
    super(message);
  }
}

/** Opens a connection through a proxy to a server, over which nothing was sent yet. */
export async function dial(
  { proxy, to }: Extract<Route, { readonly kind: "tunnel" }>,
  connection: Connection,
  signal?: AbortSignal,
): Promise<Socket> {
  const socket = await open(proxy, connection);
  const stop = () => socket.destroy();
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  try {
    await ready(socket, proxy.kind === "https" ? "secureConnect" : "connect");
    if (proxy.kind === "socks5") await askSocks(socket, proxy, to);
    else await askHttp(socket, proxy, to);
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

async function open(proxy: Proxy, connection: Connection): Promise<Socket> {
  const { host, port } = proxy;
  const { family, localAddress } = connection;
  const options = {
    ...{ host, port },
    ...family === undefined ? {} : { family },
    ...localAddress === undefined ? {} : { localAddress },
  };
  if (proxy.kind !== "https") return connect(options);
  const { connect: connectSecure } = await import("node:tls");
  return connectSecure({ ...options, ...proxyTls(proxy, connection) });
}

function ready(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve());
    socket.once("error", reject);
    socket.once("close", () => reject(new ProxyFailure("the connection was closed")));
  });
}

/** The longest answer to CONNECT, in bytes. */
const LONGEST_ANSWER = 16_384;

async function askHttp(socket: Socket, proxy: Proxy, to: Endpoint): Promise<void> {
  const authority = authorityOf(to);
  const authorization = proxyAuthorization(proxy);
  const lines = [
    `CONNECT ${authority} HTTP/1.1`,
    `Host: ${authority}`,
    ...authorization === undefined ? [] : [`Proxy-Authorization: ${authorization}`],
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  const answer = await read(socket, proxy, (bytes) => {
    const end = latin1(bytes).indexOf("\r\n\r\n");
    return end < 0 ? undefined : end + 4;
  });
  const [, code, reason] = /^HTTP\/1\.[01] (\d{3}) ?([^\r]*)/.exec(latin1(answer)) ?? [];
  if (code === undefined) {
    throw new ProxyFailure(`${proxyWords(proxy)} does not answer like an HTTP proxy`);
  }
  if (code.startsWith("2")) return;
  const refused = `${proxyWords(proxy)} refused to connect to ${placeOf(to)}`;
  throw new ProxyFailure(
    `${refused}: ${`${code} ${reason}`.trim()}`,
    code === "407"
      ? "give user and password before its host: user:password@host:port"
      : "the proxy decides which hosts and ports can be reached",
  );
}

/** The error codes of a SOCKS proxy. */
const SOCKS_REPLIES: readonly string[] = [
  "general failure",
  "connection not allowed by its rules",
  "network unreachable",
  "host unreachable",
  "connection refused",
  "TTL expired",
  "command not supported",
  "address type not supported",
];

/*
 * Where only a proxy leads to the network, a library that is fetched on demand could not be
 * fetched: SOCKS5 (RFC 1928, RFC 1929) is spoken here.
 */
async function askSocks(socket: Socket, proxy: Proxy, to: Endpoint): Promise<void> {
  const { username, password = "" } = proxy;
  const methods = username === undefined ? [0] : [0, 2];
  socket.write(Uint8Array.of(5, methods.length, ...methods));
  const [version, method] = await read(socket, proxy, exactly(2));
  if (version !== 5) throw new ProxyFailure(`${proxyWords(proxy)} does not speak SOCKS5`);
  if (method === 2 && username !== undefined) {
    socket.write(Uint8Array.of(1, ...counted(username), ...counted(password)));
    const [, result] = await read(socket, proxy, exactly(2));
    if (result !== 0) throw new ProxyFailure(`${proxyWords(proxy)} refused user and password`);
  } else if (method !== 0) {
    throw new ProxyFailure(
      `${proxyWords(proxy)} wants another way to sign in`,
      "give user and password before its host: user:password@host:port",
    );
  }
  // Always as a name, which the proxy looks up; it reads addresses as such.
  const name = isIP(to.host) === 4
    ? [1, ...to.host.split(".").map(Number)]
    : [3, ...counted(to.host)];
  socket.write(Uint8Array.of(5, 1, 0, ...name, to.port >> 8, to.port & 255));
  const reply = await read(socket, proxy, (bytes) => {
    if (bytes[1] !== undefined && bytes[1] !== 0) return bytes.length;
    const length = bytes[3] === 1 ? 4 : bytes[3] === 4 ? 16 : (bytes[4] ?? Infinity) + 1;
    return bytes.length >= 6 + length ? 6 + length : undefined;
  });
  const code = reply[1]!;
  if (code === 0) return;
  const reason = SOCKS_REPLIES[code - 1] ?? `error ${code}`;
  throw new ProxyFailure(
    `${proxyWords(proxy)} cannot connect to ${placeOf(to)}: ${reason} (SOCKS5 ${code})`,
  );
}

function counted(text: string): number[] {
  const bytes = new TextEncoder().encode(text);
  return [bytes.length, ...bytes];
}

function exactly(length: number) {
  return (bytes: Uint8Array) => bytes.length >= length ? length : undefined;
}

/** Reads what `end` says is an answer; what comes after it stays in the socket. */
function read(
  socket: Socket,
  proxy: Proxy,
  end: (bytes: Uint8Array) => number | undefined,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    let bytes = new Uint8Array();
    const done = () => {
      socket.off("readable", take);
      socket.off("error", fail);
      socket.off("end", close);
      socket.off("close", close);
    };
    const fail = (error: unknown) => {
      done();
      reject(error);
    };
    const close = () => fail(new ProxyFailure(`${proxyWords(proxy)} closed the connection`));
    const take = () => {
      for (let chunk = socket.read(); chunk; chunk = socket.read()) {
        bytes = new Uint8Array([...bytes, ...chunk as Uint8Array]);
        const length = end(bytes);
        if (length !== undefined) {
          done();
          const rest = bytes.subarray(length);
          if (rest.length > 0) socket.unshift(rest);
          return resolve(bytes.subarray(0, length));
        }
        if (bytes.length > LONGEST_ANSWER) return close();
      }
    };
    socket.on("readable", take);
    socket.once("error", fail);
    socket.once("end", close);
    socket.once("close", close);
    take();
  });
}

function latin1(bytes: Uint8Array): string {
  return new TextDecoder("latin1").decode(bytes);
}
