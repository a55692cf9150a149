import { createServer as createHttpServer, request as sendRequest } from "node:http";
import { type AddressInfo, connect, createServer, type Server, type Socket } from "node:net";
import { createServer as createTlsServer } from "node:tls";

/** A proxy in this process that records its requests. */
export interface TestProxy extends AsyncDisposable {
  readonly port: number;
  readonly asked: readonly string[];
}

/** An HTTP proxy: it forwards requests and opens tunnels. `user` is the required login. */
export async function httpProxy(
  { user, refuse, tls }: {
    readonly user?: string;
    readonly refuse?: string;
    readonly tls?: { readonly cert: string; readonly key: string };
  } = {},
): Promise<TestProxy> {
  const asked: string[] = [];
  const isWelcome = (header: string | undefined) =>
    user === undefined || header === `Basic ${btoa(user)}`;
  const server = createHttpServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    if (!isWelcome(request.headers["proxy-authorization"])) {
      return void response.writeHead(407).end("who are you?");
    }
    const { "proxy-authorization": _, ...headers } = request.headers;
    const onward = sendRequest(request.url!, { method: request.method!, headers }, (answer) => {
      response.writeHead(answer.statusCode!, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.writeHead(502).end());
    request.pipe(onward);
  });
  server.on(
    "connect",
    (request: { url: string; headers: Record<string, string> }, socket: Socket) => {
      asked.push(`CONNECT ${request.url}`);
      socket.on("error", () => {});
      if (!isWelcome(request.headers["proxy-authorization"])) {
        return void socket.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
      }
      if (refuse !== undefined) return void socket.end(`HTTP/1.1 ${refuse}\r\n\r\n`);
      const [host, port] = request.url.split(":") as [string, string];
      join(socket, host, Number(port), () => socket.write("HTTP/1.1 200 Connected\r\n\r\n"));
    },
  );
  if (!tls) return await listen(server as unknown as Server, asked);
  const secure = createTlsServer(tls, (socket) => void server.emit("connection", socket));
  return await listen(secure as unknown as Server, asked);
}

/** A SOCKS5 proxy. `user` is the required login, `reply` the reply code in place of 0. */
export async function socksProxy(
  { user, reply = 0 }: { readonly user?: string; readonly reply?: number } = {},
): Promise<TestProxy> {
  const asked: string[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => {});
    let step: "methods" | "user" | "target" = "methods";
    socket.on("data", function take(chunk: Uint8Array) {
      if (step === "methods") {
        step = user === undefined ? "target" : "user";
        return void socket.write(Uint8Array.of(5, user === undefined ? 0 : 2));
      }
      const text = (from: number, length: number) =>
        new TextDecoder().decode(chunk.subarray(from, from + length));
      if (step === "user") {
        const length = chunk[1]!;
        const target = `${text(2, length)}:${text(3 + length, chunk[2 + length]!)}`;
        step = "target";
        return void socket.write(Uint8Array.of(1, target === user ? 0 : 1));
      }
      const isName = chunk[3] === 3;
      const host = isName ? text(5, chunk[4]!) : chunk.subarray(4, 8).join(".");
      const at = isName ? 5 + chunk[4]! : 8;
      const port = chunk[at]! * 256 + chunk[at + 1]!;
      asked.push(`${host}:${port}`);
      socket.off("data", take);
      const answer = Uint8Array.of(5, reply, 0, 1, 0, 0, 0, 0, 0, 0);
      if (reply !== 0) return void socket.end(answer);
      join(socket, host, port, () => socket.write(answer));
    });
  });
  return await listen(server, asked);
}

/** Host names of tests resolve to this machine. */
function join(socket: Socket, host: string, port: number, ready: () => void): void {
  const onward = connect(port, host.endsWith(".test") ? "127.0.0.1" : host, () => {
    ready();
    socket.pipe(onward);
    onward.pipe(socket);
  });
  onward.on("error", () => socket.destroy());
  socket.on("close", () => onward.destroy());
}

async function listen(server: Server, asked: readonly string[]): Promise<TestProxy> {
  const open = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    open.add(socket);
    socket.on("close", () => open.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", () => resolve()));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
