/**
 * The barest open loop of the runtime: `rate_loop.ts PORT RATE SECONDS WARM_UP` sends requests at a
 * rate, each over a connection that is free, and prints how long they took from when they were due.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { connect, type Socket } from "node:net";

const [port = 0, rate = 0, seconds = 0, warmUp = 0] = Deno.args.map(Number);
const MOST_CONNECTIONS = 200;
const REQUEST = Buffer.from("GET / HTTP/1.1\r\nhost: x\r\n\r\n");
const buffer = Buffer.alloc(65_536);

/** When each request was due whose answer is awaited or which has no connection yet. */
const awaited = new Map<Socket, number>();
const waiting: number[] = [];
const idle: Socket[] = [];
const times: number[] = [];
let opened = 0;
let started = 0;
const began = performance.now() + 500;

function send(due: number): void {
  const socket = idle.pop();
  if (socket) return sendOver(socket, due);
  waiting.push(due);
  if (opened < MOST_CONNECTIONS) open();
}

function sendOver(socket: Socket, due: number): void {
  awaited.set(socket, due);
  socket.write(REQUEST);
}

function open(): void {
  opened++;
  const receive = (length: number) => {
    const text = buffer.toString("latin1", 0, length);
    JSON.parse(text.slice(text.indexOf("\r\n\r\n") + 4));
    const due = awaited.get(socket)!;
    if (due >= warmUp * 1000) times.push(performance.now() - began - due);
    release(socket);
    return true;
  };
  const socket = connect({
    ...{ host: "127.0.0.1", port, noDelay: true },
    onread: { buffer, callback: receive },
  }, () => release(socket));
}

function release(socket: Socket): void {
  const due = waiting.shift();
  if (due === undefined) idle.push(socket);
  else sendOver(socket, due);
}

function tick(): void {
  const now = performance.now() - began;
  while (started * 1000 / rate <= now && started < rate * (warmUp + seconds)) {
    send(started++ * 1000 / rate);
  }
  if (started < rate * (warmUp + seconds)) setTimeout(tick, 1);
  else setTimeout(end, 500);
}

function end(): void {
  times.sort((a, b) => a - b);
  const at = (part: number) => times[Math.floor(times.length * part)];
  // deno-lint-ignore no-console
  console.log(JSON.stringify({ p50: at(0.5), p99: at(0.99) }));
  Deno.exit();
}

setTimeout(tick, 500);
