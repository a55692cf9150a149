import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { authorityOf, type Endpoint } from "../../action/net/endpoint.ts";

/** What clients may do: times in milliseconds. */
export const LIMITS = {
  /** Connections at a time; others are closed at once. */
  connections: 1000,
  headersTimeout: 10_000,
  handshakeTimeout: 10_000,
  requestTimeout: 30_000,
  /** Until a client reads on. */
  idle: 120_000,
  connectionsCheckingInterval: 1000,
};

/** A server that is open, and where it is reached on this machine. */
interface OpenServer extends Endpoint {
  readonly url: string;
  /** Ends it with its connections. */
  readonly close: () => Promise<void>;
}

/**
 * Opens an HTTP server with bounds. `onExcess` is called at the first connection beyond the most
 * that it may have. Rejects as Node does.
 */
export async function openServer(
  { host, port, tls }: Endpoint & {
    readonly tls?: { readonly cert: string; readonly key: string } | undefined;
  },
  take: (request: IncomingMessage, response: ServerResponse) => void,
  limits: typeof LIMITS,
  onExcess: () => void = () => {},
): Promise<OpenServer> {
  const server: Server = tls
    ? (await import("node:https")).createServer({ ...limits, ...tls }, take)
    : (await import("node:http")).createServer(limits, take);
  server.timeout = limits.idle;
  limitConnections(server, limits.connections, onExcess);
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  server.once("error", reject);
  server.listen(port, host, resolve);
  await promise;
  const { port: chosen } = server.address() as { readonly port: number };
  const reached = host === "0.0.0.0" ? "127.0.0.1" : host === "::" ? "::1" : host;
  const place = { host: reached, port: chosen };
  return {
    ...place,
    url: `${tls ? "https" : "http"}://${authorityOf(place)}`,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Closes connections beyond the most that it may have. */
function limitConnections(server: Server, max: number, onExcess: () => void): void {
  let count = 0;
  let wasExceeded = false;
  // `maxConnections` closes them as well, but in Deno 2.9.6 nothing says so.
  server.on("connection", (socket: Socket) => {
    socket.once("close", () => count--);
    if (++count <= max) return;
    socket.destroy();
    if (!wasExceeded) onExcess();
    wasExceeded = true;
  });
}

/** Why a server cannot be opened, and what helps. */
export function listenProblem(
  error: Error & { readonly code?: string },
): { readonly reason: string; readonly hint?: string | undefined } {
  const { code = "", message } = error;
  const [why, hint] = /^(?:EADDRNOTAVAIL|EINVAL|ENOTFOUND)$/.test(code)
    ? ["it is not an address of this machine", "use 127.0.0.1 or 0.0.0.0"]
    : code === "EADDRINUSE"
    ? ["the port is in use"]
    : code === "EACCES"
    ? ["ports below 1024 need a privilege", "use a port above 1023"]
    : [message];
  return { reason: `${why}${code === "" ? "" : ` (${code})`}`, hint };
}
