import { assert, assertEquals } from "@std/assert";
import { addChunk, joinChunks } from "../../../../src/action/http/transport/body_chunks.ts";

Deno.test("addChunk() joins small chunks, so that few are kept, and keeps their order", () => {
  const chunks: Uint8Array[] = [];
  const sent = Uint8Array.from({ length: 100_000 }, (_, at) => at % 251);
  for (let at = 0; at < sent.length; at++) addChunk(chunks, sent.subarray(at, at + 1));
  assert(chunks.length < 20, String(chunks.length));
  assertEquals(joinChunks(chunks), sent);
});

Deno.test("addChunk() keeps large chunks as they come", () => {
  const chunks: Uint8Array[] = [];
  const large = new Uint8Array(65_536);
  for (let count = 0; count < 3; count++) addChunk(chunks, large);
  assertEquals(chunks.map((chunk) => chunk === large), [true, true, true]);
});
