import { createServer, type Socket } from "node:net";
import type { AddressInfo } from "node:net";
import { Buffer } from "node:buffer";

/** A frame of HTTP/2. */
function frame(type: number, flags: number, stream: number, payload: Uint8Array = Buffer.of()) {
  const head = Buffer.alloc(9);
  head.writeUIntBE(payload.length, 0, 3);
  head[3] = type;
  head[4] = flags;
  head.writeUInt32BE(stream, 5);
  return Buffer.concat([head, payload]);
}

function numbers(...all: readonly number[]): Uint8Array {
  const bytes = Buffer.alloc(4 * all.length);
  for (const [at, number] of all.entries()) bytes.writeUInt32BE(number, 4 * at);
  return bytes;
}

/** The parts of a response to a request, which are sent as they are written. */
export class RawStream {
  #sent: Buffer[] = [];

  constructor(readonly id: number, readonly socket: Socket) {}

  headers(fields: Readonly<Record<string, string | number>> = {}, isLast = false): this {
    const status = ":status" in fields ? [] : [0x88];
    const rest = Object.entries(fields).filter(([name]) => name !== ":status")
      .flatMap(([name, value]) =>
        [0, name.length, ...Buffer.from(name)]
          .concat([String(value).length, ...Buffer.from(String(value))])
      );
    return this.#add(frame(1, isLast ? 5 : 4, this.id, Buffer.from([...status, ...rest])));
  }

  /** Headers after the data. */
  trailers(fields: Readonly<Record<string, string | number>>): this {
    return this.headers({ ":status": "", ...fields }, true);
  }

  data(data: string | Uint8Array, isLast = false): this {
    return this.#add(frame(0, isLast ? 1 : 0, this.id, Buffer.from(data as string)));
  }

  reset(code: number): this {
    return this.#add(frame(3, 0, this.id, numbers(code)));
  }

  goaway(last = this.id, code = 0): this {
    return this.#add(frame(7, 0, 0, numbers(last, code)));
  }

  raw(bytes: string): this {
    return this.#add(Buffer.from(bytes, "latin1"));
  }

  /** Writes all of it, and then closes the connection, or resets it. */
  send(then?: "close" | "reset"): void {
    this.socket.write(Buffer.concat(this.#sent), () => {
      if (then === "close") this.socket.end();
      // What was written has to arrive before.
      if (then === "reset") setTimeout(() => this.socket.resetAndDestroy(), 50);
    });
  }

  #add(bytes: Buffer): this {
    this.#sent.push(bytes);
    return this;
  }
}

/** Starts a server of HTTP/2 without TLS that answers requests frame by frame. */
export async function rawHttp2(answer: (stream: RawStream) => void) {
  const open = new Set<Socket>();
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => {});
    socket.write(frame(4, 0, 0));
    let come = Buffer.alloc(0);
    let isGreeted = false;
    socket.on("data", (bytes) => {
      come = Buffer.concat([come, bytes as Uint8Array]);
      if (!isGreeted && come.length < 24) return;
      if (!isGreeted) come = come.subarray(24);
      isGreeted = true;
      while (come.length >= 9 && come.length >= 9 + come.readUIntBE(0, 3)) {
        const [type, flags, id] = [come[3]!, come[4]!, come.readUInt32BE(5)];
        come = come.subarray(9 + come.readUIntBE(0, 3));
        if (type === 4 && flags === 0) socket.write(frame(4, 1, 0));
        // The last frame of a request.
        if (type < 2 && (flags & 1) === 1) answer(new RawStream(id, socket));
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
