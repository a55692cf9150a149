import { createHash, createHmac, pbkdf2Sync } from "node:crypto";
import { connect, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { tlsCertificate } from "../../support/servers/tls_fixture.ts";

/** The user who may sign in, by either mechanism. */
const [USER, PASSWORD] = ["ann", "open-sesame-42"];

/** The mechanisms of the server, and their hashes. */
const MECHANISMS: Readonly<Record<string, readonly [hash: string, bytes: number]>> = {
  "SCRAM-SHA-256": ["sha256", 32],
  "SCRAM-SHA-512": ["sha512", 64],
};

/** When the second message of each partition was published, for who asks for a time. */
const SECOND = Date.parse("2026-01-31T12:00:00Z");

/**
 * The mock cluster of librdkafka, which any client can use, on free ports. It has no TLS, no sign-in,
 * no times and each topic that it is asked for; in front of it, a server that has TLS, asks for a
 * password, finds a message by its time, and has no topic `missing`.
 */
export async function kafkaServer(
  certificate = "good",
  mechanisms: readonly string[] = Object.keys(MECHANISMS),
) {
  const child = new Deno.Command("kcat", {
    args: ["-b", "none", "-X", "test.mock.num.brokers=1", "-d", "mock", "-C", "-t", "none", "-q"],
    stdout: "null",
    stderr: "piped",
  }).spawn();
  const reader = child.stderr.pipeThrough(new TextDecoderStream()).getReader();
  let said = "";
  let found: RegExpExecArray | null = null;
  while (!(found = /bootstrap\.servers=127\.0\.0\.1:(\d+)\n/.exec(said))) {
    const { value, done } = await reader.read();
    if (done) throw new Error(`kcat ended: ${said}`);
    said += value;
  }
  const port = Number(found[1]);
  const drained = (async () => {
    while (!(await reader.read()).done);
  })();
  const sockets = new Set<Socket>();
  const serve = (client: Socket) => {
    sockets.add(client.on("close", () => sockets.delete(client)));
    new Front(client, port, tlsPort(), ["PLAIN", ...mechanisms]);
  };
  const server = createTlsServer(tlsCertificate(certificate), serve);
  const tlsPort = () => (server.address() as { port: number }).port;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    brokers: `127.0.0.1:${port}`,
    tlsBrokers: `127.0.0.1:${tlsPort()}`,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      child.kill("SIGTERM");
      await child.status;
      await drained;
    },
  };
}

/** A server that accepts connections and sends `greeting`, once or again and again. */
export async function rudeServer(greeting: Uint8Array) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket.on("close", () => sockets.delete(socket)).on("error", () => {}));
    socket.resume();
    if (greeting.length > 0) socket.write(greeting);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as { port: number }).port,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** The numbers of requests. */
const [OFFSETS, METADATA, HANDSHAKE, VERSIONS, AUTHENTICATE] = [2, 3, 17, 18, 36];

/** A connection of a client, and the one behind it. */
class Front {
  readonly #behind: Socket;
  /** The kinds of the requests that the server has not answered, by correlation id. */
  readonly #kinds = new Map<number, number>();
  #isSignedIn = false;
  #mechanism = "";
  #scram: { bare: string; nonce: string } | undefined;
  /** The times that the server was asked for, by correlation id. */
  readonly #times = new Map<number, number>();

  constructor(
    readonly client: Socket,
    port: number,
    readonly ownPort: number,
    readonly mechanisms: readonly string[],
  ) {
    this.#behind = connect({ host: "127.0.0.1", port });
    frames(client, (frame) => this.#ask(frame));
    frames(this.#behind, (frame) => this.#answer(frame));
    client.on("error", () => {}).on("close", () => this.#behind.destroy());
    this.#behind.on("error", () => {}).on("close", () => client.destroy());
  }

  #ask(frame: Uint8Array): void {
    const view = viewOf(frame);
    const [kind, id] = [view.getInt16(0), view.getInt32(4)];
    // The name of the client comes before the request itself.
    const request = frame.subarray(10 + Math.max(0, view.getInt16(8)));
    if (kind === HANDSHAKE) {
      this.#mechanism = new TextDecoder().decode(request.subarray(2));
      const error = this.mechanisms.includes(this.#mechanism) ? 0 : 33;
      const names = this.mechanisms.flatMap(text);
      return this.#reply(id, [0, error, 0, 0, 0, this.mechanisms.length, ...names]);
    }
    if (kind === AUTHENTICATE) {
      return this.#signIn(id, new TextDecoder().decode(request.subarray(4)));
    }
    if (kind !== VERSIONS && !this.#isSignedIn) return void this.client.destroy();
    this.#kinds.set(id, kind);
    if (kind === OFFSETS) this.#askOffsets(id, request);
    send(this.#behind, frame);
  }

  /** Notes the time that is asked for, and asks the cluster for the beginning in its place. */
  #askOffsets(id: number, request: Uint8Array): void {
    const view = viewOf(request);
    const start = 9 + 2 + view.getInt16(9);
    for (let count = view.getInt32(start), at = start + 4; count > 0; count--, at += 12) {
      const time = view.getBigInt64(at + 4);
      if (time < 0) continue;
      this.#times.set(id, Number(time));
      view.setBigInt64(at + 4, -2n);
    }
  }

  /** Answers with the offset of the second message, unless it was before the time. */
  #answerOffsets(frame: Uint8Array, time: number): void {
    const view = viewOf(frame);
    const start = 12 + 2 + view.getInt16(12);
    for (let count = view.getInt32(start), at = start + 4; count > 0; count--, at += 22) {
      view.setBigInt64(at + 14, time <= SECOND ? 1n : -1n);
    }
  }

  #signIn(id: number, words: string): void {
    const answer = this.#check(words);
    if (answer === undefined) {
      const none = new Array(4 + 8).fill(0);
      return this.#reply(id, [0, 58, ...text("wrong user or password"), ...none]);
    }
    const bytes = new TextEncoder().encode(answer);
    this.#reply(id, [0, 0, 255, 255, 0, 0, 0, bytes.length, ...bytes, ...new Array(8).fill(0)]);
  }

  /** The answer to what a client says to sign in; undefined if it is refused. */
  #check(words: string): string | undefined {
    if (words.startsWith("\0")) {
      this.#isSignedIn = words === `\0${USER}\0${PASSWORD}`;
      return this.#isSignedIn ? "" : undefined;
    }
    const salt = "c2FsdA==";
    if (words.startsWith("n,,")) {
      const nonce = `${/r=(.*)$/.exec(words)![1]}server`;
      this.#scram = { bare: words.slice(3), nonce };
      return `r=${nonce},s=${salt},i=4096`;
    }
    const { bare, nonce } = this.#scram!;
    const [, final = "", proof = ""] = /^(.*),p=(.*)$/.exec(words)!;
    const message = `${bare},r=${nonce},s=${salt},i=4096,${final}`;
    const [hash, size] = MECHANISMS[this.#mechanism]!;
    const sign = (key: Uint8Array, data: string) => createHmac(hash, key).update(data).digest();
    const salted = pbkdf2Sync(PASSWORD, atob(salt), 4096, size, hash);
    const clientKey = sign(salted, "Client Key");
    const signature = sign(createHash(hash).update(clientKey).digest(), message);
    const expected = clientKey.map((byte, index) => byte ^ signature[index]!);
    this.#isSignedIn = proof === new Uint8Array(expected).toBase64() && bare.includes(`n=${USER},`);
    return this.#isSignedIn
      ? `v=${new Uint8Array(sign(sign(salted, "Server Key"), message)).toBase64()}`
      : undefined;
  }

  #answer(frame: Uint8Array): void {
    const view = viewOf(frame);
    const kind = this.#kinds.get(view.getInt32(0));
    this.#kinds.delete(view.getInt32(0));
    const time = this.#times.get(view.getInt32(0));
    if (kind === OFFSETS && time !== undefined) this.#answerOffsets(frame, time);
    if (kind === VERSIONS) {
      const own = [HANDSHAKE, AUTHENTICATE].flatMap((kind) => [0, kind, 0, 0, 0, 1]);
      const count = view.getInt32(6);
      view.setInt32(6, count + 2);
      const end = 10 + count * 6;
      return send(this.client, [...frame.subarray(0, end), ...own, ...frame.subarray(end)]);
    }
    if (kind === METADATA) {
      const all = Array.from(frame, (byte) => String.fromCharCode(byte)).join("");
      const host = "\0\x09127.0.0.1";
      view.setInt32(all.indexOf(host) + host.length, this.ownPort);
      const missing = all.indexOf("\0\x07missing");
      if (missing > 0) view.setInt16(missing - 2, 3);
    }
    send(this.client, frame);
  }

  #reply(id: number, body: readonly number[]): void {
    send(this.client, [0, 0, id >> 8, id & 255, ...body]);
  }
}

function text(word: string): number[] {
  return [0, word.length, ...new TextEncoder().encode(word)];
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.length);
}

function send(socket: Socket, frame: ArrayLike<number>): void {
  const bytes = new Uint8Array(4 + frame.length);
  viewOf(bytes).setInt32(0, frame.length);
  bytes.set(frame, 4);
  socket.write(bytes);
}

/** Calls `take` with each frame that comes, without its size. */
function frames(socket: Socket, take: (frame: Uint8Array) => void): void {
  let rest = new Uint8Array();
  socket.on("data", (chunk: Uint8Array) => {
    rest = new Uint8Array([...rest, ...chunk]);
    while (rest.length >= 4 && rest.length >= 4 + viewOf(rest).getInt32(0)) {
      const end = 4 + viewOf(rest).getInt32(0);
      take(rest.slice(4, end));
      rest = rest.slice(end);
    }
  });
}
