import type { Socket } from "node:net";
import { authorityOf, type Endpoint, placeOf } from "../../../action/net/endpoint.ts";
import type { Proxy } from "../connection/proxy.ts";
import { proxyWords } from "../connection/route.ts";
import { basicHeader } from "../request/http_syntax.ts";

const { Buffer } = await import("node:buffer");
const { isIP } = await import("node:net");

/** A proxy that did not let a connection through. */
export class ProxyFailure extends Error {
  constructor(message: string, readonly hint?: string) {
    super(message);
  }
}

/** The value of `Proxy-Authorization`; undefined for a proxy without a user. */
export function proxyAuthorization({ username, password }: Proxy): string | undefined {
  return username === undefined ? undefined : basicHeader(username, password ?? "");
}

/** Has a proxy connect to a server; what is sent afterwards goes there. */
export async function openTunnel(socket: Socket, proxy: Proxy, to: Endpoint): Promise<void> {
  if (proxy.kind === "socks5") await askSocks(socket, proxy, to);
  else await askHttp(socket, proxy, to);
}

/** The longest answer of a proxy, in bytes. */
const MAX_ANSWER = 16_384;

const GIVE_USER = "give user and password before its host: user:password@host:port";

async function askHttp(socket: Socket, proxy: Proxy, to: Endpoint): Promise<void> {
  const authority = authorityOf(to);
  const authorization = proxyAuthorization(proxy);
  const access = authorization === undefined ? "" : `Proxy-Authorization: ${authorization}\r\n`;
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nHost: ${authority}\r\n${access}\r\n`);
  const answer = await read(socket, proxy, (bytes) => {
    const end = Buffer.from(bytes).indexOf("\r\n\r\n");
    return end < 0 ? undefined : end + 4;
  });
  const [, code, reason] = /^HTTP\/1\.[01] (\d{3}) ?([^\r]*)/.exec(answer.toString("latin1")) ?? [];
  if (code === undefined) {
    throw new ProxyFailure(`${proxyWords(proxy)} does not answer like an HTTP proxy`);
  }
  if (code.startsWith("2")) return;
  const refused = `${proxyWords(proxy)} refused to connect to ${placeOf(to)}`;
  throw new ProxyFailure(
    `${refused}: ${`${code} ${reason}`.trim()}`,
    code === "407" ? GIVE_USER : "the proxy decides which hosts and ports can be reached",
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
    throw new ProxyFailure(`${proxyWords(proxy)} wants another way to sign in`, GIVE_USER);
  }
  // A name is looked up by the proxy.
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

/** Reads as many bytes as `end` finds to be an answer; what comes after it stays in the socket. */
async function read(
  socket: Socket,
  proxy: Proxy,
  end: (bytes: Uint8Array) => number | undefined,
) {
  let bytes = Buffer.alloc(0);
  while (bytes.length <= MAX_ANSWER) {
    const chunk: Uint8Array | null = socket.read();
    if (!chunk) {
      await readable(socket, proxy);
      continue;
    }
    bytes = Buffer.concat([bytes, chunk]);
    const length = end(bytes);
    if (length === undefined) continue;
    if (length < bytes.length) socket.unshift(bytes.subarray(length));
    return bytes.subarray(0, length);
  }
  throw new ProxyFailure(`${proxyWords(proxy)} does not end its answer`);
}

function readable(socket: Socket, proxy: Proxy): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = () => {
      socket.off("readable", go);
      socket.off("error", fail);
      socket.off("end", close);
      socket.off("close", close);
    };
    const go = () => {
      done();
      resolve();
    };
    const fail = (error: unknown) => {
      done();
      reject(error);
    };
    const close = () => fail(new ProxyFailure(`${proxyWords(proxy)} closed the connection`));
    if (socket.destroyed || socket.readableEnded) return close();
    socket.on("readable", go);
    socket.once("error", fail);
    socket.once("end", close);
    socket.once("close", close);
  });
}
