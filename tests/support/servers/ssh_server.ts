import { Buffer } from "node:buffer";
import ssh2 from "ssh2";

/** An SSH server in the process of the test, which runs commands by sh. */
export interface InProcessSsh extends AsyncDisposable {
  readonly port: number;
  readonly user: string;
  readonly password: string;
  /** A private key that it accepts, in the format of OpenSSH. */
  readonly key: string;
  /** Its line of known_hosts. */
  readonly knownHost: string;
  /** Its public host key in base64. */
  readonly hostKey: string;
  /** The number of connections that signed in, and of those that are open. */
  readonly connections: { opened: number; open: number };
  /** The signals that clients sent. */
  readonly signals: readonly string[];
  /** Ends all connections, as a restart does. */
  drop(): void;
}

/** The options of the server. */
export interface InProcessSshOptions {
  /** The maximum number of sessions of a connection at once. */
  readonly maxSessions?: number;
  /** It takes passwords by questions alone. */
  readonly asks?: boolean;
}

const { Server, utils } = ssh2;

/** Opens a server on a free port of 127.0.0.1. */
export async function sshServer(
  { maxSessions = Infinity, asks = false }: InProcessSshOptions = {},
): Promise<InProcessSsh> {
  const [host, client] = [makeKeyPair(), makeKeyPair()];
  const [user, password] = ["deploy", "open-sesame-42"];
  const accepted = publicKey(client.public);
  const connections = { opened: 0, open: 0 };
  const signals: string[] = [];
  /** With the number of its channel. */
  const children = new Map<Deno.ChildProcess, number>();
  // deno-lint-ignore no-explicit-any
  const open = new Set<any>();
  // deno-lint-ignore no-explicit-any
  const onConnection = (connection: any) => {
    let sessions = 0;
    connection._sock.setNoDelay();
    connection.on("error", () => {});
    // deno-lint-ignore no-explicit-any
    connection.on("authentication", (attempt: any) => {
      const methods = asks ? ["keyboard-interactive"] : ["publickey", "password"];
      const isRight = (text: string) => attempt.username === user && text === password;
      if (attempt.method === "keyboard-interactive" && asks) {
        attempt.prompt([{ prompt: "Password: ", echo: false }], ([answer]: string[]) => {
          if (isRight(answer ?? "")) attempt.accept();
          else attempt.reject(methods);
        });
      } else if (attempt.method === "password" && !asks && isRight(attempt.password)) {
        attempt.accept();
      } else if (attempt.method === "publickey" && accepted.equals(attempt.key.data)) {
        attempt.accept();
      } else {
        attempt.reject(methods);
      }
    });
    connection.on("ready", () => {
      connections.opened++;
      connections.open++;
      open.add(connection);
      connection.on("close", () => {
        connections.open--;
        open.delete(connection);
      });
    });
    // deno-lint-ignore no-explicit-any
    connection.on("session", (accept: any, reject: any) => {
      if (sessions >= maxSessions) return reject();
      sessions++;
      const session = accept();
      session.on("close", () => sessions--);
      session.on("pty", (accept: () => void) => accept());
      // deno-lint-ignore no-explicit-any
      session.on("exec", (accept: any, _reject: unknown, { command }: any) => {
        const child = new Deno.Command("sh", {
          args: ["-c", command],
          stdin: "piped",
          stdout: "piped",
          stderr: "piped",
        }).spawn();
        const stream = accept();
        children.set(child, stream.incoming.id);
        void serve(child, stream).finally(() => children.delete(child));
      });
    });
  };
  // The library has no event for a signal to a command that runs.
  const debug = (line: string) => {
    const [, channel, name] = /Inbound: CHANNEL_REQUEST \(r:(\d+), signal: (\w+)\)/.exec(line) ??
      [];
    if (name === undefined) return;
    signals.push(name);
    for (const [child, id] of children) {
      if (id === Number(channel)) child.kill(`SIG${name}` as Deno.Signal);
    }
  };
  const server = new Server({ hostKeys: [host.private], debug }, onConnection);
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const { port } = server.address();
  const hostKey = publicKey(host.public).toString("base64");
  return {
    port,
    user,
    password,
    key: client.private,
    knownHost: `[127.0.0.1]:${port},[localhost]:${port} ssh-ed25519 ${hostKey}\n`,
    hostKey,
    connections,
    signals,
    drop() {
      for (const connection of open) connection._sock.destroy();
    },
    async [Symbol.asyncDispose]() {
      for (const child of children.keys()) child.kill("SIGKILL");
      await new Promise<void>((closed) => server.close(() => closed()));
    },
  };
}

/** How a private key is encrypted. */
export interface KeyEncryption {
  readonly cipher: string;
  readonly passphrase: string;
  readonly rounds: number;
}

/** A pair of Ed25519 keys. Of those that the library makes, it cannot read one in 150 itself. */
export function makeKeyPair(
  encryption?: KeyEncryption,
): { readonly private: string; readonly public: string } {
  for (;;) {
    const pair = utils.generateKeyPairSync("ed25519", encryption);
    if (!(utils.parseKey(pair.private, encryption?.passphrase) instanceof Error)) return pair;
  }
}

function publicKey(text: string): Buffer {
  return Buffer.from(text.split(" ")[1]!, "base64");
}

// deno-lint-ignore no-explicit-any
async function serve(child: Deno.ChildProcess, stream: any): Promise<void> {
  const writer = child.stdin.getWriter();
  stream.on("data", (chunk: Uint8Array) => void writer.write(chunk).catch(() => {}));
  stream.on("end", () => void writer.close().catch(() => {}));
  stream.on("error", () => {});
  const pass = async (from: ReadableStream<Uint8Array>, to: { write(chunk: Uint8Array): void }) => {
    for await (const chunk of from) to.write(chunk);
  };
  await Promise.all([pass(child.stdout, stream), pass(child.stderr, stream.stderr)]);
  const { code, signal } = await child.status;
  if (signal === null) stream.exit(code);
  else stream.exit(signal.replace("SIG", ""), false, "");
  stream.end();
  await writer.close().catch(() => {});
}
