import { withoutPassword } from "../../secrets/secrets.ts";

/** A hint that shows the form of a WebSocket URL. */
export const URL_HINT = 'write it like "ws://host:port/path", or "wss://" for TLS';

const SCHEMES = ["ws:", "wss:", "http:", "https:"];

/** Describes the problem with the URL of a WebSocket; undefined if it is valid. */
export function urlProblem(text: string): string | undefined {
  const url = URL.parse(text);
  const isFine = url !== null && SCHEMES.includes(url.protocol) && url.hostname !== "";
  return isFine ? undefined : `invalid URL of a WebSocket "${withoutPassword(text)}"`;
}

/** The URL of the request that opens a WebSocket. */
export function requestUrl(text: string): string {
  return text.trim().replace(/^ws(?=s?:)/i, "http");
}

/** The URL of the WebSocket that a request opens. */
export function socketUrl(url: string): string {
  return url.replace(/^http(?=s?:)/, "ws");
}
