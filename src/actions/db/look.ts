import type { Socket } from "node:net";
import type { DatabaseServer } from "./database.ts";

/** Connects to PostgreSQL up to where TLS begins, to look at the certificate. */
export async function lookAtPostgres(server: DatabaseServer): Promise<Socket> {
  // Its length and the number that asks for TLS; the answer is one letter.
  return await ask(server, [0, 0, 0, 8, 4, 210, 22, 47]);
}

/** Connects to MySQL up to where TLS begins. */
export async function lookAtMysql(server: DatabaseServer): Promise<Socket> {
  // 32 bytes, the second packet: SSL, PROTOCOL_41 and SECURE_CONNECTION, 16 MB, utf8mb4.
  const head = [32, 0, 0, 1, 0, 0x8a, 0, 0, 0, 0, 0, 1, 45];
  return await ask(server, [...head, ...new Array<number>(23).fill(0)], true);
}

/** Milliseconds that a server has to answer. */
const LONGEST = 2000;

async function ask({ host, port }: DatabaseServer, bytes: readonly number[], isGreeted = false) {
  const { connect } = await import("node:net");
  const { promise, resolve, reject } = Promise.withResolvers<Socket>();
  const socket = connect({ host, port });
  const request = Uint8Array.from(bytes);
  const limit = setTimeout(() => socket.destroy(), LONGEST);
  socket.once("error", reject);
  socket.once("close", () => reject(new Error("the server did not answer")));
  socket.once("connect", () => isGreeted || socket.write(request));
  socket.once("data", () => {
    if (isGreeted) socket.write(request);
    socket.pause();
    resolve(socket);
  });
  return await promise.finally(() => clearTimeout(limit));
}
