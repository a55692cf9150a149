import { StepError } from "../../base/errors.ts";
import { decodePercents, withoutPassword } from "../../secrets/secrets.ts";
import type { SecretSink } from "../../action/action.ts";
import type { Endpoint } from "../../action/net/endpoint.ts";

/** Why "tls" needs another URL, and what to write. */
export const PLAIN_URL = 'a URL with redis:// takes no "tls"';
export const SECURE_URL = "write rediss:// to use TLS";

/** A Redis server, as a URL describes it. */
export interface RedisServer extends Endpoint {
  readonly url: string;
  /** The URL without its password. */
  readonly shown: string;
  readonly isSecure: boolean;
  readonly username?: string;
  readonly password?: string;
  readonly database: number;
}

/** Reads the URL of a Redis server; its password is a secret. Throws `StepError`. */
export function readRedisUrl(text: string, secrets: Pick<SecretSink, "add">): RedisServer {
  const url = URL.parse(text);
  const secret = url?.password ? decodePercents(url.password) : undefined;
  if (secret !== undefined) secrets.add(secret);
  const isRedis = url?.protocol === "redis:" || url?.protocol === "rediss:";
  const database = /^\/?(\d*)$/.exec(url?.pathname ?? "")?.[1];
  if (!url || !isRedis || url.hostname === "" || database === undefined) {
    const shown = url ? withoutPassword(text) : "";
    throw new StepError(
      `cannot run redis: invalid URL ${JSON.stringify(shown)}`,
      "write redis://host:6379, redis://user:password@host:6379/0 or rediss:// for TLS",
      { parameter: "url" },
    );
  }
  const shown = new URL(url);
  shown.password = url.password === "" ? "" : "***";
  return {
    url: url.href,
    shown: shown.href,
    host: url.hostname.replace(/^\[|\]$/g, ""),
    port: Number(url.port || 6379),
    isSecure: url.protocol === "rediss:",
    database: Number(database),
    ...url.username === "" ? {} : { username: decodePercents(url.username) },
    ...secret === undefined ? {} : { password: secret },
  };
}
