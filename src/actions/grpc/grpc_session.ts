import type { ClientHttp2Session } from "node:http2";
import type { TLSSocket } from "node:tls";
import { StepError } from "../../base/errors.ts";
import type { ActionContext } from "../../action/action.ts";
import { authorityOf, type Endpoint, placeOf } from "../../action/net/endpoint.ts";
import { openSocket } from "../../action/net/open_socket.ts";
import type { TlsOptions } from "../../action/tls/tls_options.ts";

const { connect } = await import("node:http2");

/** A connection to a server, for all calls of its scope. */
export interface GrpcSession {
  readonly endpoint: Endpoint;
  readonly isSecure: boolean;
  readonly http2: ClientHttp2Session;
  /** Whether it takes another call. */
  readonly isOpen: boolean;
  /** Whether it has ended. */
  readonly isLost: boolean;
  /** Why it was lost, where the runtime says. */
  readonly error: unknown;
  close(): void;
}

/** The bytes that a server may send before they are read; the default of HTTP/2 is slow. */
const WINDOW = 4 * 1024 * 1024;

/** Connects to a server by HTTP/2. */
export async function openGrpcSession(
  endpoint: Endpoint,
  tls: TlsOptions | undefined,
  context: ActionContext,
): Promise<GrpcSession> {
  const secure = tls && { ...tls, ALPNProtocols: ["h2"] };
  const socket = await openSocket(endpoint, secure, context);
  if (secure) {
    const { alpnProtocol } = socket as TLSSocket;
    if (alpnProtocol !== "h2") {
      socket.destroy();
      throw new StepError(
        `cannot connect to ${placeOf(endpoint)}: it does not speak HTTP/2 (ALPN), which gRPC needs`,
      );
    }
    // Where it is empty, as for an address, the runtime makes an invalid URL of it.
    Object.defineProperty(socket, "servername", { value: endpoint.host });
  }
  const scheme = secure ? "https" : "http";
  const http2 = connect(`${scheme}://${authorityOf(endpoint)}`, {
    createConnection: () => socket as never,
    settings: { initialWindowSize: WINDOW, enablePush: false },
  });
  let isGoing = false;
  let error: unknown;
  for (const one of [http2, socket]) one.on("error", (thrown) => error ??= thrown);
  http2.on("goaway", () => isGoing = true);
  http2.on("connect", () => {
    // A server that sends something else at once has ended it by then.
    if (!http2.destroyed) http2.setLocalWindowSize(WINDOW);
  });
  return {
    endpoint,
    isSecure: secure !== undefined,
    http2,
    get isOpen() {
      return !isGoing && !http2.closed && !http2.destroyed;
    },
    get isLost() {
      return socket.destroyed || http2.destroyed;
    },
    get error() {
      return error;
    },
    // A session that is destroyed sends GOAWAY, which crashes servers of this runtime.
    close: () => void socket.destroy(),
  };
}
