import { assertEquals } from "@std/assert";
import { capture, type Cutting } from "../../../src/action/process/capture.ts";

const cutting: Cutting = {
  lookBehind: 64 * 1024,
  cutStart: (text: string, start: number) => text.slice(start),
  cutEnd: (text: string) => `${text}|`,
};

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
    cutting,
  );
  await captured.ended;
  assertEquals(captured.take(), { text: "é", bytes: 2, cut: false });
});

Deno.test("capture() keeps the end, however it came, and counts the rest", async () => {
  const bytes = Uint8Array.from({ length: 200_000 }, (_, i) => 97 + i % 26);
  const text = new TextDecoder().decode(bytes.subarray(-600));
  for (const size of [1, 7, 1000, 65_536, 66_136, 66_137, 100_000, bytes.length]) {
    const captured = capture(streamOf(inChunks(bytes, size)), 600, cutting);
    await captured.ended;
    assertEquals(captured.take(), { text, bytes: 200_000, cut: true }, `${size}`);
  }
});

Deno.test("capture() keeps the same, in whatever pieces it came, and shows what was before it", async () => {
  for (let size = 1; size <= 23; size++) {
    for (const [length, limit, lookBehind] of [[0, 5, 3], [7, 7, 1], [90, 8, 5], [200, 0, 19]]) {
      const bytes = Uint8Array.from({ length: length! }, (_, index) => 33 + index % 90);
      const all = new TextDecoder().decode(bytes);
      let seen: [string, number] | undefined;
      const captured = capture(streamOf(inChunks(bytes, size)), limit!, {
        ...cutting,
        lookBehind: lookBehind!,
        cutStart(text, start) {
          seen = [text, start];
          return text.slice(start);
        },
      });
      await captured.ended;
      const cut = length! > limit!;
      const text = cut ? all.slice(length! - limit!) : all;
      assertEquals(captured.take(), { text, bytes: length!, cut }, `${length} by ${size}`);
      const shown = all.slice(-(limit! + lookBehind!));
      assertEquals(seen, cut ? [shown, shown.length - limit!] : undefined);
    }
  }
});

Deno.test("capture() keeps no part of a character that the cut goes through", async () => {
  const bytes = new TextEncoder().encode("é".repeat(100_000) + "ab");
  for (const [limit, text] of [[4, "éab"], [3, "ab"], [2, "ab"], [1, "b"], [0, ""]] as const) {
    const captured = capture(streamOf([bytes]), limit, cutting);
    await captured.ended;
    assertEquals(captured.take().text, text);
  }
});

Deno.test("capture() keeps all of what is no UTF-8 but three bytes at most", async () => {
  const captured = capture(streamOf([new Uint8Array(1000).fill(0x80)]), 100, cutting);
  await captured.ended;
  assertEquals(captured.take().text, "\ufffd".repeat(97));
});

function inChunks(bytes: Uint8Array, size: number): Uint8Array[] {
  return Array.from(
    { length: Math.ceil(bytes.length / size) },
    (_, index) => bytes.subarray(index * size, (index + 1) * size),
  );
}

Deno.test("capture() can be taken while the stream goes on, and empties it further", async () => {
  let controller!: ReadableByteStreamController;
  const stream = new ReadableStream({
    type: "bytes",
    start(its) {
      controller = its;
    },
  });
  const captured = capture(stream, 100, cutting);
  controller.enqueue(new Uint8Array([97, 0xc3]));
  await new Promise((resolve) => setTimeout(resolve));
  // Half a character is left out, since its other half may be under way, and so may that of more.
  assertEquals(captured.take(), { text: "a|", bytes: 2, cut: false });
  controller.enqueue(new Uint8Array([98]));
  controller.close();
  await captured.ended;
});

Deno.test("capture() cuts the end of what was torn", async () => {
  const captured = capture(streamOf([Uint8Array.of(97, 98)]), 1, cutting);
  await captured.ended;
  assertEquals(captured.take(true), { text: "b|", bytes: 2, cut: true });
});

Deno.test("capture() takes a stream that breaks for one that ends", async () => {
  const stream = new ReadableStream<Uint8Array>({
    type: "bytes",
    start: (controller) => controller.error(new Error("broken")),
  });
  const captured = capture(stream, 100, cutting);
  await captured.ended;
  assertEquals(captured.take(), { text: "", bytes: 0, cut: false });
});

Deno.test("capture() can be cancelled", async () => {
  const captured = capture(new ReadableStream<Uint8Array>({ type: "bytes" }), 100, cutting);
  await captured.cancel();
  await captured.ended;
});

Deno.test("capture() shows what comes before the cut to who cuts, however it came", async () => {
  const bytes = new TextEncoder().encode(`${"x".repeat(200_000)}é123`);
  for (const size of [1, 7, bytes.length]) {
    const seen: [string, number][] = [];
    const captured = capture(streamOf(inChunks(bytes, size)), 4, {
      ...cutting,
      cutStart: (text, start) => {
        seen.push([text.slice(-7), text.length - start]);
        return "mine";
      },
    });
    await captured.ended;
    assertEquals(captured.take().text, "mine");
    assertEquals(seen, [["xxxé123", 3]]);
  }
});
