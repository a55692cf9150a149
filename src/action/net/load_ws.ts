import type ws from "ws";

export type { WebSocket } from "ws";

/** The class of the library for WebSockets. */
export type WebSocketClass = typeof ws;

/**
 * Loads the library for WebSockets. The one of the runtime shows no answer that refuses to open
 * one, and holds small messages back until the others are acknowledged (Nagle's algorithm).
 */
export async function loadWs(): Promise<WebSocketClass> {
  return (await import("ws")).default;
}
