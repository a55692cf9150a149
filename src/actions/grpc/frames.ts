/** One message on the wire: whether it is compressed, its length and its bytes. */
export function makeFrame(message: Uint8Array): Uint8Array {
  const frame = new Uint8Array(HEAD + message.length);
  new DataView(frame.buffer).setUint32(1, message.length);
  frame.set(message, HEAD);
  return frame;
}

/** A message as it came. */
export interface GrpcFrame {
  readonly isCompressed: boolean;
  readonly bytes: Uint8Array;
}

const HEAD = 5;

/** Splits a stream of bytes into messages. */
export class FrameReader {
  #chunks: Uint8Array[] = [];
  #length = 0;

  /** Whether a message has begun and not ended. */
  get isWithin(): boolean {
    return this.#length > 0;
  }

  /** Takes more bytes and returns the messages that are complete with them. */
  take(chunk: Uint8Array): GrpcFrame[] {
    // The runtime may use the memory of the chunk again.
    this.#chunks.push(chunk.slice());
    this.#length += chunk.length;
    const frames: GrpcFrame[] = [];
    while (this.#length >= HEAD) {
      const head = this.#peek(HEAD);
      const size = HEAD + new DataView(head.buffer, head.byteOffset).getUint32(1);
      if (this.#length < size) break;
      const bytes = this.#peek(size).subarray(HEAD, size);
      frames.push({ isCompressed: head[0] === 1, bytes });
      this.#chunks = [this.#chunks[0]!.subarray(size)];
      this.#length -= size;
    }
    return frames;
  }

  /** Makes one chunk of all if the first is shorter than that. */
  #peek(size: number): Uint8Array {
    if (this.#chunks[0]!.length < size) {
      const joined = new Uint8Array(this.#length);
      let at = 0;
      for (const chunk of this.#chunks) {
        joined.set(chunk, at);
        at += chunk.length;
      }
      this.#chunks = [joined];
    }
    return this.#chunks[0]!;
  }
}

/** The bytes of a message, which `grpc-encoding` may have compressed. */
export async function decompress(bytes: Uint8Array, encoding: string): Promise<Uint8Array> {
  const stream = new Blob([bytes as BlobPart]).stream();
  const plain = stream.pipeThrough(new DecompressionStream(encoding as "gzip" | "deflate"));
  return new Uint8Array(await new Response(plain).arrayBuffer());
}
