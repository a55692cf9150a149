/** A server of WebSockets that compresses, sends fragments and pings. Prints its URL. */
import { WebSocketServer } from "ws";

const server = new WebSocketServer({
  host: "127.0.0.1",
  port: 0,
  perMessageDeflate: { threshold: 0 },
});

server.on("connection", (socket: any) => {
  socket.on("message", (data: Uint8Array) => {
    switch (String(data)) {
      case "fragments":
        socket.send("one ", { fin: false });
        socket.send("two ", { fin: false });
        return socket.send("three", { fin: true });
      case "ping":
        socket.once("pong", () => socket.send(JSON.stringify({ pong: true })));
        return socket.ping("x");
      case "large":
        return socket.send("a".repeat(2_000_000));
    }
  });
});

server.on("listening", () => console.log(`ws://127.0.0.1:${server.address().port}`));
for await (const _ of Deno.stdin.readable) { /* until the test ends it */ }
Deno.exit();
