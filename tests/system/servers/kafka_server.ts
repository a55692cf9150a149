import { createHash, createHmac, pbkdf2Sync } from "node:crypto";
import { connect, createServer, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";
import { tlsCertificate } from "../../support/servers/tls_fixture.ts";

/** The user who may sign in, by either mechanism. */
const [USER, PASSWORD] = ["ann", "open-sesame-42"];

/**
 * The mock cluster of librdkafka, which any client can use, on free ports. It has no TLS, no sign-in
 * and each topic that it is asked for; in front of it, a server that has TLS, asks for a password,
 * and has no topic `missing`.
 */
export async function kafkaServer(certificate = "good") {
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
    new Front(client, port, tlsPort());
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
const [METADATA, HANDSHAKE, VERSIONS, AUTHENTICATE] = [3, 17, 18, 36];

/** A connection of a client, and the one behind it. */
class Front {
  readonly #behind: Socket;
  /** The kinds of the requests that the server has not answered, by correlation id. */
  readonly #kinds = new Map<number, number>();
  #isSignedIn = false;
  #scram: { bare: string; nonce: string } | undefined;

  constructor(readonly client: Socket, port: number, readonly ownPort: number) {
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
      return this.#reply(id, [0, 0, 0, 0, 0, 2, ...text("PLAIN"), ...text("SCRAM-SHA-256")]);
    }
    if (kind === AUTHENTICATE) {
      return this.#signIn(id, new TextDecoder().decode(request.subarray(4)));
    }
    if (kind !== VERSIONS && !this.#isSignedIn) return void this.client.destroy();
    this.#kinds.set(id, kind);
    send(this.#behind, frame);
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
    const sign = (key: Uint8Array, data: string) => createHmac("sha256", key).update(data).digest();
    const salted = pbkdf2Sync(PASSWORD, atob(salt), 4096, 32, "sha256");
    const clientKey = sign(salted, "Client Key");
    const signature = sign(createHash("sha256").update(clientKey).digest(), message);
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
