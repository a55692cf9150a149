import type { Socket } from "node:net";
import type { Clock } from "../../../host/host.ts";
import { hostOf } from "../request/request_url.ts";
import { markSocket } from "../transport/phases.ts";
import { ClosedEarly } from "../transport/send.ts";
import type { Connection } from "./connection.ts";
import { type Route, routeOf } from "./route.ts";

const { connect: connectPlain, isIP } = await import("node:net");
const { connect: connectSecure } = await import("node:tls");

/** The options for opening a socket. */
interface Opening {
  readonly clock: Clock;
  /** The protocols to offer by ALPN. */
  readonly protocols: readonly string[];
  /** Ends the opening. */
  readonly signal?: AbortSignal;
}

/**
 * Opens a socket of its own to the server of a URL, through a proxy where one is used, and with
 * TLS for `https://`.
 */
export async function openServerSocket(
  url: URL,
  connection: Connection,
  { clock, protocols, signal }: Opening,
): Promise<Socket> {
  const isSecure = url.protocol === "https:";
  const route = routeOf(url, connection);
  const began = clock.ticks();
  const socket = await openSocket(route, connection, signal);
  const isTunnel = route.kind === "forward" || route.kind === "tunnel";
  const used = isSecure ? secure(socket, url, connection, protocols) : socket;
  markSocket(used, clock, began, isTunnel ? undefined : socket);
  const stop = () => used.destroy();
  signal?.addEventListener("abort", stop);
  if (signal?.aborted) stop();
  try {
    if (isSecure || !isTunnel) await ready(used, isSecure ? "secureConnect" : "connect");
    return used;
  } catch (error) {
    used.destroy();
    throw error;
  } finally {
    signal?.removeEventListener("abort", stop);
  }
}

async function openSocket(
  route: Route,
  connection: Connection,
  signal: AbortSignal | undefined,
): Promise<Socket> {
  switch (route.kind) {
    case "forward":
    case "tunnel":
      return await (await import("./dial.ts")).dial(
        { ...route, kind: "tunnel" },
        connection,
        signal,
      );
    case "unix":
      return connectPlain({ path: route.path });
    case "direct": {
      const { family, localAddress } = connection;
      return connectPlain({
        ...route.to,
        ...family === undefined ? {} : { family },
        ...localAddress === undefined ? {} : { localAddress },
      });
    }
  }
}

function secure(
  socket: Socket,
  url: URL,
  { tls }: Connection,
  protocols: readonly string[],
): Socket {
  const name = tls.servername ?? hostOf(url);
  return connectSecure({
    ...tls,
    socket,
    servername: isIP(name) ? "" : name,
    ALPNProtocols: [...protocols],
  });
}

function ready(socket: Socket, event: "connect" | "secureConnect"): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.once(event, () => resolve());
    socket.once("error", reject);
    socket.once("close", () => reject(new ClosedEarly()));
  });
}
