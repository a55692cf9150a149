import type { Socket } from "node:net";
import type { Endpoint } from "./endpoint.ts";

/** A text to wait for, and the reply to it. */
interface PlainTurn {
  readonly reply: RegExp;
  readonly send?: string;
}

/** Milliseconds that the server has for all of it. */
const LONGEST = 2000;

/**
 * Connects once more and speaks plainly up to where TLS begins, to look at the certificate there.
 * Rejects when the server does not take part in it.
 */
export async function speakUntilTls(
  { host, port }: Endpoint,
  turns: readonly PlainTurn[],
): Promise<Socket> {
  const { connect } = await import("node:net");
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host, port });
  const late = setTimeout(() => reject(new Error("the server is too slow")), LONGEST);
  let text = "";
  const rest = [...turns];
  const hear = (chunk: Uint8Array) => {
    text += new TextDecoder().decode(chunk);
    if (!rest[0]?.reply.test(text)) return;
    const { send } = rest.shift()!;
    text = "";
    if (send !== undefined) socket.write(send);
    if (rest.length === 0) resolve();
  };
  socket.on("data", hear);
  socket.on("error", reject);
  socket.on("close", () => reject(new Error("the server closed the connection")));
  try {
    await promise;
    socket.off("data", hear);
    socket.pause();
    return socket;
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    clearTimeout(late);
  }
}
