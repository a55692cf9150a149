import type { Socket } from "node:net";
import type { SecretSink } from "../../../action/action.ts";
import { addressOf, authorityOf, type Endpoint } from "../../../action/net/endpoint.ts";
import { StepError } from "../../../base/errors.ts";
import type { Environment } from "../../../host/host.ts";
import { decodePercents, withoutPassword } from "../../../secrets/secrets.ts";
import { basicHeader, hostOf } from "../request/http_syntax.ts";

const { BlockList, isIP } = await import("node:net");
const { Buffer } = await import("node:buffer");

/** A proxy that requests go through. */
export interface Proxy {
  readonly kind: "http" | "https" | "socks5";
  readonly host: string;
  readonly port: number;
  readonly username?: string;
  readonly password?: string;
}

/** The proxies that the environment names. */
export interface Proxies {
  readonly kind: "environment";
  readonly http?: Proxy;
  readonly https?: Proxy;
  /** Whether a host is reached without a proxy. */
  isExempt(host: string, port: number): boolean;
}

const PORTS = { http: 80, https: 443, socks5: 1080 } as const;

const FORMS = "a proxy is written http://host:port, https://host:port or socks5://host:port";

/** Reads the URL of a proxy; without a scheme it is HTTP. `from` names its source. */
export function readProxy(text: string, from: string, secrets: SecretSink): Proxy {
  const url = URL.parse(/^[a-z0-9+.-]+:\/\//i.test(text) ? text : `http://${text}`);
  const kind = url?.protocol.replace(/^socks5h:|:$/g, (found) => found === ":" ? "" : "socks5");
  if (!url?.hostname || kind !== "http" && kind !== "https" && kind !== "socks5") {
    throw new StepError(
      `${from} is not the URL of a proxy: "${withoutPassword(text)}"`,
      FORMS,
      from === '"proxy"' ? { parameter: "proxy" } : {},
    );
  }
  const password = decodePercents(url.password);
  if (password !== "") secrets.add(password);
  return {
    kind,
    host: hostOf(url),
    port: Number(url.port) || PORTS[kind],
    username: url.username === "" ? undefined : decodePercents(url.username),
    password,
  };
}

/**
 * The proxies of the environment, as the tools of Go read them, and `ALL_PROXY`; undefined where
 * it names none. Throws `StepError` if it is not a proxy.
 */
export function readProxies(env: Environment, secrets: SecretSink): Proxies | undefined {
  const find = (name: string) => {
    for (const each of [name, name.toLowerCase()]) {
      const text = env.get(each);
      if (text) return readProxy(text, each, secrets);
    }
    return undefined;
  };
  const all = find("ALL_PROXY");
  const http = find("HTTP_PROXY") ?? all;
  const https = find("HTTPS_PROXY") ?? all;
  if (!http && !https) return undefined;
  const isExempt = readExemptions(env.get("NO_PROXY") || env.get("no_proxy") || "");
  return { kind: "environment", http, https, isExempt };
}

/**
 * Reads `NO_PROXY`: names with what is below them, names that begin with a dot for what is below
 * alone, addresses, ranges of them (CIDR), each with or without a port, or `*` for everything.
 * This machine is never reached through a proxy.
 */
export function readExemptions(text: string): Proxies["isExempt"] {
  const rules = text.split(",").map((rule) => rule.trim().toLowerCase()).filter((rule) => rule);
  const tests = rules.map(readExemption);
  return (host, port) => {
    const name = host.toLowerCase().replace(/\.$/, "");
    return isLoopback(name) || tests.some((test) => test(name, port));
  };
}

type Exemption = (host: string, port: number) => boolean;

function readExemption(rule: string): Exemption {
  if (rule === "*") return () => true;
  const range = rangeExemption(rule);
  if (range) return range;
  const [, bracketed, plain, ownPort] = /^(?:\[(.*)\]|(.*?))(?::(\d+))?$/.exec(rule) ?? [];
  const isAddress = isIP(rule) !== 0;
  const host = isAddress ? rule : (bracketed ?? plain ?? rule).replace(/^\*\./, ".");
  const hasPort = (port: number) => isAddress || !ownPort || Number(ownPort) === port;
  if (host.startsWith(".")) return (name, port) => name.endsWith(host) && hasPort(port);
  return (name, port) =>
    (name === host || isIP(host) === 0 && name.endsWith(`.${host}`)) && hasPort(port);
}

function rangeExemption(rule: string): Exemption | undefined {
  const [, network, bits] = /^([\da-f.:]+)\/(\d+)$/.exec(rule) ?? [];
  const version = isIP(network ?? "");
  if (version === 0) return undefined;
  const list = new BlockList();
  list.addSubnet(network!, Number(bits), version === 6 ? "ipv6" : "ipv4");
  return (name) => isIP(name) !== 0 && list.check(name, isIP(name) === 6 ? "ipv6" : "ipv4");
}

function isLoopback(name: string): boolean {
  if (name === "localhost" || name.endsWith(".localhost")) return true;
  return isIP(name) === 4
    ? name.startsWith("127.")
    : name === "::1" || name.startsWith("::ffff:127.");
}

/** The name of a proxy in messages. */
export function describeProxy(proxy: Proxy): string {
  return `the proxy ${addressOf(proxy)}`;
}

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

/** Has a proxy connect to a server, which receives all later bytes. */
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
    throw new ProxyFailure(`${describeProxy(proxy)} does not answer like an HTTP proxy`);
  }
  if (code.startsWith("2")) return;
  const refused = `${describeProxy(proxy)} refused to connect to ${addressOf(to)}`;
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
  if (version !== 5) throw new ProxyFailure(`${describeProxy(proxy)} does not speak SOCKS5`);
  if (method === 2 && username !== undefined) {
    socket.write(Uint8Array.of(1, ...counted(username), ...counted(password)));
    const [, result] = await read(socket, proxy, exactly(2));
    if (result !== 0) throw new ProxyFailure(`${describeProxy(proxy)} refused user and password`);
  } else if (method !== 0) {
    throw new ProxyFailure(`${describeProxy(proxy)} wants another way to sign in`, GIVE_USER);
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
    `${describeProxy(proxy)} cannot connect to ${addressOf(to)}: ${reason} (SOCKS5 ${code})`,
  );
}

function counted(text: string): number[] {
  const bytes = new TextEncoder().encode(text);
  return [bytes.length, ...bytes];
}

function exactly(length: number) {
  return (bytes: Uint8Array) => bytes.length >= length ? length : undefined;
}

/** Reads an answer, whose end `end` finds; later bytes stay in the socket. */
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
  throw new ProxyFailure(`${describeProxy(proxy)} does not end its answer`);
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
    const close = () => fail(new ProxyFailure(`${describeProxy(proxy)} closed the connection`));
    if (socket.destroyed || socket.readableEnded) return close();
    socket.on("readable", go);
    socket.once("error", fail);
    socket.once("end", close);
    socket.once("close", close);
  });
}
