import { assertEquals } from "@std/assert";
import { assertPassed } from "../support/assert_passed.ts";
import { readBlocks, readDocument } from "../support/documents.ts";
import { runHere } from "../support/run/run_main.ts";
import { withServer } from "../support/servers/with_server.ts";
import { withFiles } from "../support/temp_dir.ts";

/** Runs the workflow of a name in a page, with a variable of the environment. */
async function assertRuns(page: string, name: string, env: Readonly<Record<string, string>>) {
  const blocks = readBlocks(await readDocument(`docs/reference/actions/${page}.md`));
  const [flow, ...others] = blocks.filter(({ text }) => text.startsWith(`name: ${name}\n`));
  assertEquals(others, []);
  const { code, stdout, stderr } = await withFiles(
    { "flow.yml": flow!.text },
    (cwd) => runHere(["flow.yml"], { cwd, env: { NO_COLOR: "1", ...env } }),
  );
  assertEquals([code, stderr], [0, ""], stdout);
  assertPassed(stdout);
}

Deno.test("the two clients of the page of websocket hear each other", async () => {
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
  await assertRuns("websocket", "Two clients", { CHAT_URL: url });
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
  await assertRuns("sse", "Live", { SERVER_URL: server.url });
});
