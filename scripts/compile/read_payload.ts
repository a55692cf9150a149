/** The data that `deno compile` puts into a binary. */
export interface Payload {
  /** The settings of the runtime: permissions, the entry and so on. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** The embedded files by their names. */
  readonly files: ReadonlyMap<string, Uint8Array>;
}

/** An entry of the embedded file system. */
type Entry =
  | { readonly File: { readonly n: string; readonly o: readonly [start: number, length: number] } }
  | { readonly Dir: { readonly name: string } };

const MARK = new TextEncoder().encode("d3n0l4nd");

/** Npm packages (8 bytes), specifiers, redirects and remote modules (4 each): none of them. */
const NOTHING_REMOTE = 20;

/**
 * Reads back what is embedded in a binary of Deno 2.9, whatever its format. Throws where there is
 * nothing, or more than files of one directory.
 */
export function readPayload(binary: Uint8Array<ArrayBuffer>): Payload {
  const view = new DataView(binary.buffer, binary.byteOffset, binary.byteLength);
  const start = findPayload(binary);
  const lengthAt = (at: number) => Number(view.getBigUint64(at, true));
  const json = (at: number) => {
    const length = lengthAt(at);
    const text = new TextDecoder().decode(binary.subarray(at + 8, at + 8 + length));
    return { value: JSON.parse(text), end: at + 8 + length };
  };
  const settings = json(start);
  if (binary.subarray(settings.end, settings.end + NOTHING_REMOTE).some((byte) => byte !== 0)) {
    throw new Error("there are npm packages or remote modules in it");
  }
  const tree = json(settings.end + NOTHING_REMOTE);
  const dataStart = tree.end + 8;
  const dataEnd = dataStart + lengthAt(tree.end);
  if (!hasMark(binary, dataEnd)) throw new Error("it does not end as it should");
  const files = (tree.value as Entry[]).map((entry): [string, Uint8Array] => {
    if (!("File" in entry)) throw new Error("it contains directories");
    const [offset, length] = entry.File.o;
    return [entry.File.n, binary.subarray(dataStart + offset, dataStart + offset + length)];
  });
  return { settings: settings.value, files: new Map(files) };
}

/** Where the settings begin: after the last of the marks in a row. */
function findPayload(binary: Uint8Array): number {
  for (let at = binary.indexOf(MARK[0]!); at >= 0; at = binary.indexOf(MARK[0]!, at + 1)) {
    if (!hasMark(binary, at)) continue;
    let end = at + MARK.length;
    while (hasMark(binary, end)) end += MARK.length;
    if (binary[end + 8] === "{".charCodeAt(0)) return end;
  }
  throw new Error("nothing is embedded in it");
}

function hasMark(binary: Uint8Array, at: number): boolean {
  return MARK.every((byte, i) => binary[at + i] === byte);
}
