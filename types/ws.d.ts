// Types for the package ws, as far as this project uses it.

declare module "ws" {
  import type { ClientRequest, IncomingMessage } from "node:http";
  import type { Socket } from "node:net";
  import type { Duplex } from "node:stream";

  export interface WebSocket {
    readonly protocol: string;
    readonly readyState: number;
    on(event: "open", listener: () => void): this;
    on(event: "upgrade", listener: (response: IncomingMessage) => void): this;
    on(
      event: "unexpected-response",
      listener: (request: ClientRequest, response: IncomingMessage) => void,
    ): this;
    on(event: "message", listener: (data: Uint8Array, isBinary: boolean) => void): this;
    on(event: "close", listener: (code: number, reason: Uint8Array) => void): this;
    on(event: "error", listener: (error: Error) => void): this;
    send(data: string | Uint8Array): void;
    close(code?: number, reason?: string): void;
    terminate(): void;
    /** Stops reading the connection, and goes on. */
    pause(): void;
    resume(): void;
    readonly isPaused: boolean;
  }

  const WebSocket: new (
    url: string,
    protocols: string[],
    options: {
      readonly createConnection: () => Socket;
      readonly headers: Readonly<Record<string, string | string[]>>;
      readonly maxPayload: number;
      /** Whether one tick may emit several messages. */
      readonly allowSynchronousEvents?: boolean;
    },
  ) => WebSocket;
  export default WebSocket;

  /** The binary messages as one stream, which closes the connection when it is destroyed. */
  export function createWebSocketStream(socket: WebSocket): Duplex;
}
