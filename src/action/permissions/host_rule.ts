import type { HostRule, Permissions, Refusal } from "./permissions.ts";

const FORM = /^(\*\.)?(\[[^\]]*\]|[^\s:/\\@?#[\]*]+)(?::(\d{1,5}))?$/;

/**
 * Reads `example.com`, `example.com:8443`, `*.example.com`, an IP address or `[::1]:80`; undefined
 * where it is none of them.
 */
export function parseHostRule(text: string): HostRule | undefined {
  // An IPv6 address alone needs no brackets.
  const [, below, name, port] =
    FORM.exec(/^[\da-f.]*:[\da-f:.]*:/i.test(text) ? `[${text}]` : text) ??
      [];
  const host = name === undefined ? undefined : URL.parse(`http://${name}`)?.hostname;
  if (!host || port !== undefined && !isPort(Number(port))) return undefined;
  if (below !== undefined && isAddress(host)) return undefined;
  return {
    host: withoutDot(host),
    below: below !== undefined,
    ...port === undefined ? {} : { port: String(Number(port)) },
  };
}

/**
 * Why a URL is out of reach. Names are compared and never looked up: an address that a name leads
 * to needs no rule, and a rule for a name allows no address.
 */
export function netRefusal({ net }: Permissions, url: URL): Refusal | undefined {
  if (!net) return undefined;
  const port = url.port || (url.protocol === "https:" ? "443" : "80");
  const host = withoutDot(url.hostname);
  if (net.some((rule) => isNamed(rule, host, port))) return undefined;
  return {
    message: `--allow-net does not name ${url.hostname} port ${port}`,
    hint: `allow it with --allow-net=${url.hostname}:${port}`,
  };
}

function isNamed(rule: HostRule, host: string, port: string): boolean {
  if (rule.port !== undefined && rule.port !== port) return false;
  return rule.below ? host.endsWith(`.${rule.host}`) : host === rule.host;
}

function isPort(port: number): boolean {
  return port >= 1 && port <= 65_535;
}

function isAddress(host: string): boolean {
  return host.startsWith("[") || /^[\d.]+$/.test(host);
}

/** A dot at the end changes where a name is looked up, and not what it means in full. */
function withoutDot(host: string): string {
  return host.endsWith(".") ? host.slice(0, -1) : host;
}
