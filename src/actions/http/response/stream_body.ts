import type { Transform } from "node:stream";
import type { ActionContext } from "../../../action/action.ts";
import { stageStepFile, writeProblem } from "../../../action/step_file.ts";
import type { StagedFile } from "../../../host/staged_file.ts";
import type { BodySink, SavedBody } from "../transport/model.ts";
import { BadEncoding, bodyDigests, encodingsIn, hasZlibHeader } from "./read_body.ts";

/** Undoes the content encodings of a body as it comes; like `decodeBody`. */
export function decodeStream(
  chunks: AsyncIterable<Uint8Array>,
  contentEncoding: string,
): AsyncIterable<Uint8Array> {
  let decoded = chunks;
  for (const encoding of encodingsIn(contentEncoding).reverse()) {
    decoded = undo(encoding, decoded);
  }
  return decoded;
}

async function* undo(
  encoding: string,
  chunks: AsyncIterable<Uint8Array>,
): AsyncIterable<Uint8Array> {
  const source = chunks[Symbol.asyncIterator]();
  const first = await source.next();
  if (first.done) return;
  const rest = restOf(first.value, source);
  const transform = await transformFor(encoding, first.value);
  if (!transform) return yield* rest;
  const { Readable, pipeline } = await import("node:stream");
  const input = Readable.from(rest);
  // Errors are thrown to the reader.
  pipeline(input, transform, () => {});
  try {
    yield* transform;
  } catch (error) {
    const { code } = error as { readonly code?: unknown };
    // Not a connection that ended.
    throw /^Z_|BROTLI|ERR_/.test(String(code)) && !input.errored
      ? new BadEncoding(encoding)
      : error;
  }
}

async function* restOf(first: Uint8Array, source: AsyncIterator<Uint8Array>) {
  yield first;
  for (let next = await source.next(); !next.done; next = await source.next()) yield next.value;
}

async function transformFor(
  encoding: string,
  first: Uint8Array,
): Promise<(Transform & AsyncIterable<Uint8Array>) | undefined> {
  const zlib = await import("node:zlib");
  switch (encoding) {
    case "gzip":
    case "x-gzip":
      return zlib.createGunzip();
    case "deflate":
      return hasZlibHeader(first) ? zlib.createInflate() : zlib.createInflateRaw();
    case "br":
      return zlib.createBrotliDecompress();
    default:
      return undefined;
  }
}

const DOING = "cannot save the body of the response";

/** The file that the body of a response goes into. It takes its name when it is complete. */
export class SaveFile implements BodySink {
  readonly #path: string;
  readonly #staged: StagedFile;
  #isDiscarded = false;

  constructor(path: string, staged: StagedFile) {
    this.#path = path;
    this.#staged = staged;
  }

  /** Whether the body of a response with that code is saved. */
  takes(code: number): boolean {
    // The page of an error is not what was asked for, and must not replace a file that is there.
    return code >= 200 && code <= 299;
  }

  /** Writes a body whose content encodings are undone. */
  async save(chunks: AsyncIterable<Uint8Array>, contentEncoding: string): Promise<SavedBody> {
    const { add, facts } = bodyDigests();
    for await (const chunk of decodeStream(chunks, contentEncoding)) {
      if (this.#isDiscarded) break;
      add(chunk);
      this.#attempt(() => this.#staged.write(chunk));
    }
    if (!this.#isDiscarded) this.#attempt(() => this.#staged.commit());
    return { ...facts(), filepath: this.#path };
  }

  /** Leaves everything as it was before, unless the body was saved. */
  discard(): void {
    this.#isDiscarded = true;
    this.#staged.discard();
  }

  #attempt(act: () => void): void {
    try {
      act();
    } catch (error) {
      throw writeProblem(DOING, this.#path, "save", error);
    }
  }
}

/** Opens the file of `save`, whose path begins at the current directory. */
export async function openSaveFile(path: string, context: ActionContext): Promise<SaveFile> {
  const { absolute, staged } = await stageStepFile(DOING, path, "save", context);
  return new SaveFile(absolute, staged);
}
