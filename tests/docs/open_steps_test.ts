import { assertRuns } from "../support/documented_workflow.ts";
import { withServer } from "../support/servers/with_server.ts";

Deno.test("the two clients of the documents hear each other", async () => {
  const rooms = new Map<string, Set<WebSocket>>();
  await using server = withServer((request) => {
    const { socket, response } = Deno.upgradeWebSocket(request);
    const room = rooms.getOrInsertComputed(new URL(request.url).pathname, () => new Set());
    socket.onopen = () => room.add(socket);
    socket.onclose = () => room.delete(socket);
    socket.onmessage = ({ data }) => {
      for (const other of room) if (other !== socket) other.send(data);
    };
    return response;
  });
  const url = server.url.replace("http:", "ws:");
  await assertRuns("reference/actions/websocket", "Two clients", { CHAT_URL: url });
  await assertRuns("cookbook/messages", "Chat", { CHAT_URL: url });
});

Deno.test("the price that the page of sse changes arrives", async () => {
  const streams = new Set<ReadableStreamDefaultController<Uint8Array>>();
  await using server = withServer(async (request) => {
    if (request.method === "PUT") {
      const event = `event: changed\ndata: ${await request.text()}\n\n`;
      for (const stream of streams) stream.enqueue(new TextEncoder().encode(event));
      return new Response();
    }
    let mine: ReadableStreamDefaultController<Uint8Array>;
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => void streams.add(mine = controller),
      cancel: () => void streams.delete(mine),
    });
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  });
  await assertRuns("reference/actions/sse", "Live", { SERVER_URL: server.url });
});
