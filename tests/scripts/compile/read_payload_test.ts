import { assertEquals, assertThrows } from "@std/assert";
import { readPayload } from "../../../scripts/compile/read_payload.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const MARK = encode("d3n0l4nd");

/** A binary as `deno compile` writes it, around `parts`. */
function binary(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  return joined(encode("ELF d3n0l4nd is the mark"), MARK, MARK, ...parts, MARK, encode("end"));
}

function joined(...parts: Uint8Array[]): Uint8Array<ArrayBuffer> {
  return new Uint8Array(parts.flatMap((part) => [...part]));
}

function sized(content: Uint8Array): Uint8Array {
  const size = new Uint8Array(8);
  new DataView(size.buffer).setBigUint64(0, BigInt(content.length), true);
  return joined(size, content);
}

const json = (value: unknown) => sized(encode(JSON.stringify(value)));
const nothing = new Uint8Array(20);
const settings = json({ entrypoint_key: "a.js" });
const tree = json([{ File: { n: "a.js", o: [0, 3] } }, { File: { n: "b.js", o: [3, 2] } }]);

Deno.test("the embedded payload is read back", () => {
  const payload = readPayload(binary(settings, nothing, tree, sized(encode("abcde"))));
  assertEquals(payload.settings, { entrypoint_key: "a.js" });
  const texts = [...payload.files].map(([name, bytes]) => [name, new TextDecoder().decode(bytes)]);
  assertEquals(texts, [["a.js", "abc"], ["b.js", "de"]]);
});

Deno.test("an invalid payload is an error", () => {
  const data = sized(encode("abcde"));
  const some = new Uint8Array(20).fill(1, 8, 9);
  const directory = json([{ Dir: { name: "x", entries: [] } }]);
  const table: [what: string, bytes: Uint8Array<ArrayBuffer>][] = [
    ["nothing is embedded", encode("ELF d3n0l4nd and no more")],
    ["npm packages or remote modules", binary(settings, some, tree, data)],
    ["does not end as it should", binary(settings, nothing, tree, data, encode("more"))],
    ["it contains directories", binary(settings, nothing, directory, data)],
  ];
  for (const [what, bytes] of table) assertThrows(() => readPayload(bytes), Error, what);
});
