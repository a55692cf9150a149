/** A connection to a raw server, as its script sees it. */
export interface RawConnection {
  /** The number of the connection, from 0. */
  readonly index: number;
  /** Reads a whole request, body and all; undefined when the client has closed instead. */
  request(): Promise<string | undefined>;
  /** Sends a text, a byte for each of its characters, or bytes. */
  send(data: string | Uint8Array): Promise<void>;
  close(): void;
  /** Resolves when the client has closed the connection. */
  closed(): Promise<void>;
}

/** A TCP server that runs a script, and records connections and requests. */
export interface RawServer extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Connections that were made. */
  readonly connections: number;
  /** Every request that came, as text, a character for each byte. */
  readonly requests: readonly string[];
}

/** Starts a server on a free port that runs `script` for each connection. */
export function rawServer(script: (connection: RawConnection) => Promise<void>): RawServer {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const requests: string[] = [];
  const open = new Set<Deno.Conn>();
  const running: Promise<void>[] = [];
  let connections = 0;

  const serve = async (conn: Deno.Conn, index: number) => {
    open.add(conn);
    const read = reader(conn);
    const close = () => {
      if (open.delete(conn)) conn.close();
    };
    try {
      await script({
        index,
        async request() {
          const request = await read.request();
          if (request !== undefined) requests.push(request);
          return request;
        },
        send: (data) => writeAll(conn, data),
        close,
        closed: () => read.end(),
      });
    } catch (error) {
      // The client may disconnect in the middle of a response, as some tests require.
      if (!isGone(error)) throw error;
    } finally {
      close();
    }
  };
  const accepting = (async () => {
    for await (const conn of listener) running.push(serve(conn, connections++));
  })();

  return {
    url: `http://127.0.0.1:${listener.addr.port}`,
    port: listener.addr.port,
    get connections() {
      return connections;
    },
    requests,
    async [Symbol.asyncDispose]() {
      listener.close();
      for (const conn of open) {
        open.delete(conn);
        conn.close();
      }
      await accepting;
      await Promise.all(running);
    },
  };
}

/** A response with the right `content-length`. */
export function response(status: string, body = "", headers: readonly string[] = []): string {
  return [`HTTP/1.1 ${status}`, `Content-Length: ${body.length}`, ...headers, "", body]
    .join("\r\n");
}

function reader(conn: Deno.Conn) {
  let text = "";
  const buffer = new Uint8Array(65536);
  const read = () =>
    conn.read(buffer).catch((error) => {
      if (isGone(error)) return null;
      throw error;
    });
  const hasMore = async (): Promise<boolean> => {
    const count = await read();
    if (count === null) return false;
    for (const byte of buffer.subarray(0, count)) text += String.fromCharCode(byte);
    return true;
  };
  return {
    async request(): Promise<string | undefined> {
      while (true) {
        const end = text.indexOf("\r\n\r\n");
        const length = Number(/^content-length: *(\d+)/im.exec(text)?.[1] ?? 0);
        if (end >= 0 && text.length >= end + 4 + length) {
          const request = text.slice(0, end + 4 + length);
          text = text.slice(request.length);
          return request;
        }
        if (!await hasMore()) return undefined;
      }
    },
    async end(): Promise<void> {
      while (await read() !== null);
    },
  };
}

async function writeAll(conn: Deno.Conn, data: string | Uint8Array): Promise<void> {
  const bytes = typeof data === "string"
    ? Uint8Array.from(data, (character) => character.charCodeAt(0))
    : data;
  for (let at = 0; at < bytes.length;) at += await conn.write(bytes.subarray(at));
}

function isGone(error: unknown): boolean {
  return error instanceof Deno.errors.BadResource || error instanceof Deno.errors.Interrupted ||
    error instanceof Deno.errors.ConnectionReset || error instanceof Deno.errors.BrokenPipe;
}
