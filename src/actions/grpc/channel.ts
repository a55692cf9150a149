import type { ClientHttp2Session } from "node:http2";
import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";
import { StepError } from "../../base/errors.ts";
import { authorityOf, type Endpoint } from "../../action/net/endpoint.ts";
import type { ActionAttempt } from "../../action/attempt.ts";
import type { Tls } from "../../action/tls/tls.ts";
import type { Registry } from "./protobuf.ts";

// Loaded beside other calls they make the runtime panic (denoland/deno#36258).
await import("../../action/tls/pem.ts");
await import("../../action/tls/secure_socket.ts");
const { connect } = await import("node:http2");

/** The bytes that a server may send before they are read; the default of HTTP/2 is slow. */
const WINDOW = 4 * 1024 * 1024;

/** The types of a service, and its full name. */
export interface ServiceTypes {
  readonly types: Registry;
  readonly service: string;
}

/** A connection to a server by HTTP/2, and the services that were found there. */
export class Channel {
  readonly http2: ClientHttp2Session;
  /** The types of services, by the name that a step gives. */
  readonly services = new Map<string, Promise<ServiceTypes>>();
  /** Whether the server has ever answered. */
  hasAnswered = false;
  /** Why the connection was lost, if the runtime says it. */
  error: unknown;
  #isGoing = false;

  constructor(
    readonly endpoint: Endpoint,
    readonly socket: Socket | TLSSocket,
    readonly isSecure: boolean,
  ) {
    this.http2 = connect(`${this.scheme}://${authorityOf(endpoint)}`, {
      createConnection: () => socket as never,
      settings: { initialWindowSize: WINDOW, enablePush: false },
    });
    for (const one of [this.http2, socket]) one.on("error", (error) => this.error ??= error);
    this.http2.on("goaway", () => this.#isGoing = true);
    this.http2.on("connect", () => {
      // A server that sends something else at once has ended it by then.
      if (!this.http2.destroyed) this.http2.setLocalWindowSize(WINDOW);
    });
  }

  get scheme(): "http" | "https" {
    return this.isSecure ? "https" : "http";
  }

  /** Whether it takes another call. */
  get isOpen(): boolean {
    return !this.#isGoing && !this.http2.closed && !this.http2.destroyed;
  }

  get isLost(): boolean {
    return this.socket.destroyed || this.http2.destroyed;
  }

  /** Closes it; a session that is destroyed sends GOAWAY, which crashes servers of this runtime. */
  close(): void {
    this.socket.destroy();
  }
}

/** Connects to the server of an attempt. */
export async function openChannel(
  tls: Tls | false | undefined,
  attempt: ActionAttempt,
): Promise<Channel> {
  const options = await attempt.secure(tls);
  const secure = options && { ...options, ALPNProtocols: ["h2"] };
  const socket = await attempt.socket(secure);
  const { server } = attempt;
  if (options) {
    if ((socket as TLSSocket).alpnProtocol !== "h2") {
      throw new StepError(
        `cannot connect to ${attempt.address}: it does not speak HTTP/2 (ALPN), which gRPC needs`,
      );
    }
    // The runtime makes an invalid URL of an empty one, as for an address.
    Object.defineProperty(socket, "servername", { value: server.host });
  }
  return new Channel(server, socket, options !== undefined);
}
