import type { Environment } from "../../../host/host.ts";
import { StepError } from "../../../base/errors.ts";
import { decodePercents, withoutPassword } from "../../../secrets/secrets.ts";
import type { SecretSink } from "../../../action/action.ts";
import { hostOf } from "../request/request_url.ts";

const { BlockList, isIP } = await import("node:net");

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

/** Reads the URL of a proxy; without a scheme it is HTTP. `from` names what gave it. */
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
    ...url.username === "" ? {} : { username: decodePercents(url.username), password },
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
  return { kind: "environment", ...http ? { http } : {}, ...https ? { https } : {}, isExempt };
}

/**
 * Reads `NO_PROXY`: names with what is below them, names that begin with a dot for what is below
 * alone, addresses, ranges of them (CIDR), each with or without a port, or `*` for everything.
 * This machine is never reached through a proxy.
 */
export function readExemptions(text: string): Proxies["isExempt"] {
  const rules = text.split(",").map((rule) => rule.trim().toLowerCase()).filter((rule) => rule);
  const tests = rules.map(readRule);
  return (host, port) => {
    const name = host.toLowerCase().replace(/\.$/, "");
    return isLoopback(name) || tests.some((test) => test(name, port));
  };
}

type Rule = (host: string, port: number) => boolean;

function readRule(rule: string): Rule {
  if (rule === "*") return () => true;
  const range = rangeRule(rule);
  if (range) return range;
  const [, bracketed, plain, ownPort] = /^(?:\[(.*)\]|(.*?))(?::(\d+))?$/.exec(rule) ?? [];
  const isAddress = isIP(rule) !== 0;
  const host = isAddress ? rule : (bracketed ?? plain ?? rule).replace(/^\*\./, ".");
  const hasPort = (port: number) => isAddress || !ownPort || Number(ownPort) === port;
  if (host.startsWith(".")) return (name, port) => name.endsWith(host) && hasPort(port);
  return (name, port) =>
    (name === host || isIP(host) === 0 && name.endsWith(`.${host}`)) && hasPort(port);
}

function rangeRule(rule: string): Rule | undefined {
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
