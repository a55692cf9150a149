import { assertEquals } from "@std/assert";
import { capture, lastLines } from "../../../src/action/process/capture.ts";
import { Masker } from "../../../src/secrets/masker.ts";

const NONE = new Masker();

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
    NONE,
  );
  await captured.ended;
  assertEquals(captured.take(), { text: "é", bytes: 2, cut: false });
});

Deno.test("capture() keeps the end, however it came, and counts the rest", async () => {
  const bytes = Uint8Array.from({ length: 200_000 }, (_, i) => 97 + i % 26);
  const text = new TextDecoder().decode(bytes.subarray(-600));
  for (const size of [1, 7, 1000, 65_536, 66_136, 66_137, 100_000, bytes.length]) {
    const captured = capture(streamOf(inChunks(bytes, size)), 600, NONE);
    await captured.ended;
    assertEquals(captured.take(), { text, bytes: 200_000, cut: true }, `${size}`);
  }
});

Deno.test("capture() keeps the same output for any chunk sizes", async () => {
  for (let size = 1; size <= 23; size++) {
    for (const [length, limit] of [[0, 5], [7, 7], [90, 8], [200, 0]]) {
      const bytes = Uint8Array.from({ length: length! }, (_, index) => 33 + index % 90);
      const all = new TextDecoder().decode(bytes);
      const captured = capture(streamOf(inChunks(bytes, size)), limit!, NONE);
      await captured.ended;
      const cut = length! > limit!;
      const text = cut ? all.slice(length! - limit!) : all;
      assertEquals(captured.take(), { text, bytes: length!, cut }, `${length} by ${size}`);
    }
  }
});

Deno.test("capture() begins a cut output with a whole line, else with a whole word", async () => {
  const cases = [
    ["first\nsecond\nthird\n", 13, "second\nthird\n"],
    ["first\nsecond\nthird\n", 12, "third\n"],
    ["one two three four", 15, "two three four"],
    ["one two three four", 14, "two three four"],
    ["a long line\n", 4, "ine\n"],
  ] as const;
  for (const [printed, limit, text] of cases) {
    const captured = capture(streamOf([new TextEncoder().encode(printed)]), limit, NONE);
    await captured.ended;
    assertEquals(captured.take().text, text);
  }
});

Deno.test("capture() keeps no part of a character that the cut goes through", async () => {
  const bytes = new TextEncoder().encode("é".repeat(100_000) + "ab");
  for (const [limit, text] of [[4, "éab"], [3, "ab"], [2, "ab"], [1, "b"], [0, ""]] as const) {
    const captured = capture(streamOf([bytes]), limit, NONE);
    await captured.ended;
    assertEquals(captured.take().text, text);
  }
});

Deno.test("capture() drops at most three bytes of invalid UTF-8", async () => {
  const captured = capture(streamOf([new Uint8Array(1000).fill(0x80)]), 100, NONE);
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
  const captured = capture(stream, 100, NONE);
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
  const captured = capture(stream, 100, NONE);
  await captured.ended;
  assertEquals(captured.take(), { text: "", bytes: 0, cut: false });
});

Deno.test("capture() can be cancelled", async () => {
  const captured = capture(new ReadableStream<Uint8Array>({ type: "bytes" }), 100, NONE);
  await captured.cancel();
  await captured.ended;
});

Deno.test("capture() begins behind a secret that the cut goes through", async () => {
  for (const secret of ["supersecret", "super secret words", "super\nsecret\nlines"]) {
    const secrets = new Masker();
    secrets.add(secret);
    for (const form of [secret, JSON.stringify(secret), btoa(secret)]) {
      const printed = `${"x".repeat(20_000)}${form}${"y".repeat(200)}`;
      for (let limit = 200; limit <= 200 + form.length; limit++) {
        const stream = streamOf(inChunks(new TextEncoder().encode(printed), 7001));
        const captured = capture(stream, limit, secrets);
        await captured.ended;
        const { text } = captured.take();
        const rest = text.slice(0, -200).replace(/[=x"]/g, "");
        // The last character of base64 has bits of what follows.
        const isWhole = rest === form.replace(/[=x"]/g, "");
        assertEquals(isWhole || rest.length <= 1, true, `${limit}: ${text}`);
      }
    }
  }
});

const numbered = (count: number) => Array.from({ length: count }, (_, i) => `${i + 1}`);

const cases: readonly (readonly [string, string, string | undefined])[] = [
  ["nothing", "", undefined],
  ["blank lines", "\n\n", undefined],
  ["a few lines whole", "a\n b\n", "stdout:\n  a\n   b"],
  [
    "the end of many lines",
    numbered(12).join("\n"),
    `stdout (the last of 12 lines):\n  ${numbered(12).slice(2).join("\n  ")}`,
  ],
  ["no part of a line that is too long", "x".repeat(5000), "stdout: one line of 5000 characters"],
  [
    "the lines after one that is too long",
    "x".repeat(5000) + "\nb",
    "stdout (the last of 2 lines):\n  b",
  ],
];

for (const [what, text, shown] of cases) {
  Deno.test(`lastLines() shows ${what}`, () => assertEquals(lastLines("stdout", text), shown));
}
