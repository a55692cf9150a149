import type { Socket } from "node:net";
import type { Clock } from "../../../host/host.ts";

/** The times that the parts of an exchange took, in milliseconds. */
export interface Phases {
  readonly dns: number;
  readonly connect: number;
  readonly tls: number;
  readonly first_byte: number;
  readonly download: number;
}

/** When the parts of opening a connection were done, in ticks of the clock. */
export interface SocketMarks {
  readonly began: number;
  looked?: number;
  connected?: number;
  secured?: number;
}

/** By socket, until its first request has counted them. */
const marked = new WeakMap<Socket, SocketMarks>();

/**
 * Has a socket that is being opened note when its parts are done; `lower` is the one of TCP, or
 * undefined where that is connected.
 */
export function markSocket(
  socket: Socket,
  clock: Clock,
  began: number,
  lower: Socket | undefined,
): void {
  const marks: SocketMarks = { began, ...lower ? {} : { connected: clock.ticks() } };
  marked.set(socket, marks);
  lower?.once("lookup", () => marks.looked ??= clock.ticks());
  lower?.once("connect", () => marks.connected ??= clock.ticks());
  socket.once("secureConnect", () => marks.secured = clock.ticks());
}

/** The parts of opening a connection, for the first request over it. */
export function takeMarks(socket: Socket | undefined): SocketMarks | undefined {
  const marks = socket && marked.get(socket);
  if (marks) marked.delete(socket);
  return marks;
}

/**
 * The parts of an exchange; `marks` are there if it opened its connection. What came before
 * `from`, when its time began, is work of the program and belongs to none of them.
 */
export function measure(
  marks: SocketMarks | undefined,
  { from = 0, sent, answered, ended }: {
    readonly from?: number | undefined;
    readonly sent: number;
    readonly answered: number;
    readonly ended: number;
  },
): Phases {
  const began = Math.max(from, marks?.began ?? sent);
  const looked = Math.max(began, marks?.looked ?? began);
  const connected = Math.max(looked, marks?.connected ?? looked);
  const secured = Math.max(connected, marks?.secured ?? connected);
  return {
    dns: looked - began,
    connect: connected - looked,
    tls: secured - connected,
    first_byte: Math.max(0, answered - secured),
    download: ended - answered,
  };
}

/** The parts of several exchanges together. */
export function addPhases(one: Phases | undefined, other: Phases): Phases {
  if (!one) return other;
  return {
    dns: one.dns + other.dns,
    connect: one.connect + other.connect,
    tls: one.tls + other.tls,
    first_byte: one.first_byte + other.first_byte,
    download: one.download + other.download,
  };
}
