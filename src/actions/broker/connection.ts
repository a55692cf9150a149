import type { Duplex } from "node:stream";
import { BODY_LIMIT } from "../../base/value/byte_size.ts";

/** Bytes that wait to be sent, from which on nothing is read. */
const MAX_WAITING = 64 * 1024;

/** Milliseconds of reading after which timers and signals get a turn. */
const TURN = 10;

/**
 * Reads what comes, in turns with timers and signals, and as long as little waits to be sent: a
 * server could have us answer without end. What `read` throws ends the connection.
 */
export function readInTurns(socket: Duplex, read: (chunk: Uint8Array) => void): void {
  let spent = 0;
  socket.on("data", (chunk: Uint8Array) => {
    const began = performance.now();
    try {
      read(chunk);
    } catch (error) {
      socket.destroy(error as Error);
    }
    spent += performance.now() - began;
    const isFull = socket.writableLength >= MAX_WAITING;
    if (spent < TURN && !isFull) return;
    spent = 0;
    socket.pause();
    if (isFull) socket.once("drain", () => socket.resume());
    else setTimeout(() => socket.resume());
  });
}

/**
 * What reads a server whose messages have no bound of their own. `parse` returns how many have come
 * in all.
 */
export function bounded(parse: (chunk: Uint8Array) => number): (chunk: Uint8Array) => void {
  let [unread, before] = [0, 0];
  return (chunk) => {
    const messages = parse(chunk);
    unread = messages > before ? 0 : unread + chunk.length;
    before = messages;
    if (unread <= BODY_LIMIT) return;
    throw new Error(`the server sent a message of more than ${BODY_LIMIT} bytes`);
  };
}

/** The error of a connection that the other side has closed. */
export function lost(): Error {
  return Object.assign(new Error("the server closed the connection"), { code: "ECONNRESET" });
}

/** Milliseconds that a server has to end what it is asked to end. */
const LONGEST_GOODBYE = 500;

/** Waits until the server has ended something, unless that takes too long. */
export async function goodbye(ending: void | Promise<unknown>): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const late = setTimeout(resolve, LONGEST_GOODBYE);
  await Promise.race([ending, promise]).catch(() => {});
  clearTimeout(late);
}
