import type { Certificate, TestServer } from "./with_server.ts";
import { withServer } from "./with_server.ts";

/** A server of WebSockets that records what it sees. */
export interface EchoServer extends TestServer {
  /** Without a slash at the end. */
  readonly url: string;
  /** The requests that opened a WebSocket or were refused. */
  readonly requests: readonly { readonly url: string; readonly headers: Headers }[];
  /** The codes by which clients closed their WebSockets. */
  readonly closed: readonly number[];
  /** Resolves when the first message has come. */
  readonly heard: Promise<void>;
  /** Resolves when a client has closed its WebSocket. */
  nextClose(): Promise<number>;
}

/**
 * Starts a server that sends every message back. `bye CODE REASON` closes, `many N` sends N
 * numbered JSON messages, `large N` a text of N characters, `bytes` sends three bytes, `silent` gets no answer; the path `/deny` is
 * refused and `/cookie` sets one.
 */
export function echoServer(certificate?: Certificate): EchoServer {
  const requests: { readonly url: string; readonly headers: Headers }[] = [];
  const closed: number[] = [];
  const heard = Promise.withResolvers<void>();
  let wake = Promise.withResolvers<number>();
  const server = withServer((request) => {
    // They cannot be read any more once the request is closed.
    requests.push({ url: request.url, headers: new Headers(request.headers) });
    const { pathname } = new URL(request.url);
    if (pathname === "/deny") {
      return new Response("you may not\n  come in", {
        status: 403,
        headers: { "content-type": "text/plain" },
      });
    }
    if (pathname === "/moved") {
      return new Response(null, { status: 302, headers: { location: "/other" } });
    }
    if (request.headers.get("upgrade") !== "websocket") return new Response("a page");
    const offered = request.headers.get("sec-websocket-protocol")?.split(/, */) ?? [];
    const protocol = offered.includes("chat.2") ? { protocol: "chat.2" } : {};
    const { socket, response } = Deno.upgradeWebSocket(request, protocol);
    if (pathname === "/cookie") response.headers.set("set-cookie", "ticket=abc; Path=/");
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      if (pathname === "/hello") socket.send("welcome");
    };
    socket.onmessage = ({ data }) => {
      heard.resolve();
      answer(socket, data);
    };
    socket.onclose = ({ code }) => {
      closed.push(code);
      wake.resolve(code);
      wake = Promise.withResolvers();
    };
    return response;
  }, certificate);
  return {
    url: server.url.replace("http", "ws"),
    port: server.port,
    requests,
    closed,
    heard: heard.promise,
    nextClose: () => wake.promise,
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}

function answer(socket: WebSocket, data: string | ArrayBuffer): void {
  const [word, first = "", ...rest] = typeof data === "string" ? data.split(" ") : [];
  switch (word) {
    case "bye":
      return socket.close(Number(first), rest.join(" "));
    case "many":
      for (let n = 1; n <= Number(first); n++) socket.send(JSON.stringify({ n, of: first }));
      return;
    case "large":
      return socket.send("x".repeat(Number(first)));
    case "bytes":
      return socket.send(Uint8Array.of(1, 2, 255));
    case "silent":
      return;
    default:
      return socket.send(data);
  }
}
