import { assertEquals } from "@std/assert";
import { capture } from "../../../src/action/process/capture.ts";

const cutText = (text: string, limit: number) => text.slice(0, limit);

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    type: "bytes",
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk.slice());
      controller.close();
    },
  });
}

Deno.test("capture() puts a character together that came in two parts", async () => {
  const captured = capture(
    streamOf([new Uint8Array([0xc3]), new Uint8Array([0xa9])]),
    100,
    cutText,
  );
  await captured.ended;
  assertEquals(captured.take(), { text: "é", bytes: 2, cut: false });
});

Deno.test("capture() keeps the beginning, however it came, and counts the rest", async () => {
  const bytes = Uint8Array.from({ length: 1000 }, (_, i) => 97 + i % 26);
  const chunks = Array.from(bytes, (byte) => Uint8Array.of(byte));
  for (const given of [[bytes], chunks]) {
    const captured = capture(streamOf(given), 600, cutText);
    await captured.ended;
    const text = new TextDecoder().decode(bytes.subarray(0, 600));
    assertEquals(captured.take(), { text, bytes: 1000, cut: true });
  }
});

Deno.test("capture() can be taken while the stream goes on, and empties it further", async () => {
  let controller!: ReadableByteStreamController;
  const stream = new ReadableStream({
    type: "bytes",
    start(its) {
      controller = its;
    },
  });
  const captured = capture(stream, 100, cutText);
  controller.enqueue(new Uint8Array([97, 0xc3]));
  await new Promise((resolve) => setTimeout(resolve));
  // Half a character is left out, since its other half may be under way.
  assertEquals(captured.take(), { text: "a", bytes: 2, cut: false });
  controller.enqueue(new Uint8Array([98]));
  controller.close();
  await captured.ended;
});

Deno.test("capture() takes a stream that breaks for one that ends", async () => {
  const stream = new ReadableStream<Uint8Array>({
    type: "bytes",
    start: (controller) => controller.error(new Error("broken")),
  });
  const captured = capture(stream, 100, cutText);
  await captured.ended;
  assertEquals(captured.take(), { text: "", bytes: 0, cut: false });
});

Deno.test("capture() can be cancelled", async () => {
  const captured = capture(new ReadableStream<Uint8Array>({ type: "bytes" }), 100, cutText);
  await captured.cancel();
  await captured.ended;
});

Deno.test("capture() shows what comes behind the cut to who cuts, however it came", async () => {
  const bytes = new TextEncoder().encode(`é123${"x".repeat(200_000)}`);
  for (const size of [1, 7, bytes.length]) {
    const chunks: Uint8Array[] = [];
    for (let at = 0; at < bytes.length && at < 500 * size; at += size) {
      chunks.push(bytes.subarray(at, at + size));
    }
    const seen: [string, number][] = [];
    const captured = capture(streamOf(chunks), 4, (text, limit) => {
      seen.push([text.slice(0, 7), limit]);
      return "mine";
    });
    await captured.ended;
    assertEquals(captured.take().text, "mine");
    assertEquals(seen, [["é123xxx", 3]]);
  }
});
