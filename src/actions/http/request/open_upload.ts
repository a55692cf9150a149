import { resolve } from "@std/path/resolve";
import type { ActionContext, Dict } from "../../../action/action.ts";
import {
  fileProblem,
  readablePath,
  readStepText,
  type StepFile,
} from "../../../action/step_file.ts";
import { StepError } from "../../../base/errors.ts";
import type { Compression } from "../http_params.ts";
import {
  type Content,
  type ContentStream,
  graphqlText,
  isStream,
  lengthOf,
  type RequestBody,
  typeByExtension,
  type Upload,
  type UploadPart,
} from "./body.ts";
import { mediaParameter, mediaType } from "./http_syntax.ts";

/** A body that can be sent, and its fields in `req`. */
interface OpenUpload {
  readonly body: RequestBody;
  readonly shown: Dict;
}

/**
 * Finds the files of a body. Throws `StepError` where one cannot be read. `contentType` is that of
 * the headers that the step gives.
 */
export async function openUpload(
  { source, compress }: Upload,
  contentType: string | undefined,
  context: ActionContext,
): Promise<OpenUpload> {
  const opened = await openSource(source, contentType, context);
  if (compress === undefined) return opened;
  return {
    body: await compressBody(opened.body, compress),
    shown: { ...opened.shown, compress },
  };
}

async function openSource(
  source: Upload["source"],
  contentType: string | undefined,
  context: ActionContext,
): Promise<OpenUpload> {
  switch (source.kind) {
    case "ready":
      return { body: source.body, shown: { body: source.body.content } };
    case "graphql": {
      const query = await readQuery(source.path, context);
      const body = graphqlText(query, source.graphql);
      return { body, shown: { body: body.content } };
    }
    case "file": {
      const { path, content } = await openFile(source.path, "file", context);
      return { body: { content, contentType: typeByExtension(path) }, shown: { file: path } };
    }
    case "multipart": {
      const parts = await Promise.all(source.parts.map((part) => openPart(part, context)));
      return { body: multipartBody(parts, contentType), shown: { multipart: shownParts(parts) } };
    }
  }
}

async function readQuery(path: string, context: ActionContext): Promise<string> {
  const file: StepFile = { path, what: "the GraphQL query", parameter: "graphql" };
  return await readStepText(file, context);
}

async function openPart(part: UploadPart, context: ActionContext): Promise<ReadyPart> {
  const { name, content, type, filename } = part;
  if ("text" in content) {
    return { ...part, content: new TextEncoder().encode(content.text), shown: content.text };
  }
  const { path, content: stream } = await openFile(content.file, "multipart", context);
  return {
    name,
    content: stream,
    type: type ?? typeByExtension(path),
    filename: filename ?? path.split(/[\\/]/).at(-1)!,
    file: path,
  };
}

/** The parts as `req` has them: by name, with the paths of files. */
function shownParts(parts: readonly ReadyPart[]): Dict {
  const shown: Record<string, Dict[string]> = Object.create(null);
  for (const { name, type, filename, file, shown: text = "" } of parts) {
    const isText = file === undefined && type === undefined && filename === undefined;
    const part: Dict[string] = isText ? text : {
      ...file === undefined ? { value: text } : { file },
      ...type === undefined ? {} : { type },
      ...filename === undefined ? {} : { filename },
    };
    const before = shown[name];
    shown[name] = before === undefined ? part : [...[before].flat(), part];
  }
  return shown;
}

/** Bytes of a file that are read at once. */
const CHUNK = 128 * 1024;

async function openFile(
  name: string,
  parameter: string,
  context: ActionContext,
): Promise<{ readonly path: string; readonly content: Content }> {
  const file: StepFile = { path: name, what: "the file", parameter };
  const path = await readablePath(file, context);
  const { files } = context.host;
  try {
    const absolute = resolve(files.workingDirectory(), path);
    const { isDirectory, isFile, size } = await Deno.stat(absolute);
    if (isDirectory) throw new Deno.errors.IsADirectory();
    // A file that is not readable is an error before anything is sent; and --watch follows it.
    await (await files.stream(path)).cancel();
    return { path, content: fileStream(absolute, isFile ? size : undefined, parameter) };
  } catch (error) {
    throw fileProblem(error, file, path);
  }
}

/** A file as it is sent. A file that is not regular, like a pipe, has no length. */
function fileStream(path: string, length: number | undefined, parameter: string): ContentStream {
  return {
    length,
    async *open() {
      using file = await Deno.open(path);
      let remaining = length ?? Infinity;
      while (remaining > 0) {
        const chunk = new Uint8Array(Math.min(CHUNK, remaining));
        const count = await file.read(chunk);
        if (count === null) break;
        remaining -= count;
        yield chunk.subarray(0, count);
      }
      if (remaining > 0 && length !== undefined) {
        const message =
          `the file "${path}" became shorter while it was sent: it had ${length} bytes`;
        throw new StepError(message, undefined, { parameter });
      }
    },
  };
}

/** A part of a multipart body whose file was found. */
interface ReadyPart {
  readonly name: string;
  readonly content: Content;
  readonly type?: string;
  readonly filename?: string;
  readonly file?: string;
  /** The text that it has otherwise. */
  readonly shown?: string;
}

/**
 * A multipart body. A multipart type that the step gives is kept, with the boundary that it names;
 * without one it gets that of the body.
 */
function multipartBody(
  parts: readonly ReadyPart[],
  contentType: string | undefined,
): RequestBody {
  const named = contentType === undefined ? undefined : mediaParameter(contentType, "boundary");
  const boundary = named ?? `runner-${crypto.randomUUID().replaceAll("-", "")}`;
  const encoder = new TextEncoder();
  const pieces: Content[] = parts.flatMap((part, index) => [
    encoder.encode(`${index === 0 ? "" : "\r\n"}--${boundary}\r\n${headOf(part)}\r\n\r\n`),
    part.content,
  ]);
  pieces.push(encoder.encode(`${parts.length === 0 ? "" : "\r\n"}--${boundary}--\r\n`));
  const lengths = pieces.map(lengthOf);
  const length = lengths.includes(undefined)
    ? undefined
    : lengths.reduce<number>((sum, length) => sum + length!, 0);
  const isKept = contentType !== undefined && mediaType(contentType).startsWith("multipart/");
  const type = isKept ? contentType : "multipart/form-data";
  return {
    ownType: true,
    contentType: named === undefined ? `${type}; boundary=${boundary}` : type,
    content: { length, open: () => readAll(pieces, encoder) },
  };
}

async function* readAll(pieces: readonly Content[], encoder: TextEncoder) {
  for (const piece of pieces) {
    if (isStream(piece)) yield* piece.open();
    else yield typeof piece === "string" ? encoder.encode(piece) : piece;
  }
}

function headOf({ name, type, filename }: ReadyPart): string {
  const file = filename === undefined ? "" : `; filename="${quoted(filename)}"`;
  const disposition = `Content-Disposition: form-data; name="${quoted(name)}"${file}`;
  return type === undefined ? disposition : `${disposition}\r\nContent-Type: ${inLine(type)}`;
}

/** Writes names as browsers do: in UTF-8, with characters that end the name percent-encoded. */
function quoted(name: string): string {
  return name.replace(/["\r\n]/g, (mark) => encodeURIComponent(mark));
}

/** A value of a header, which ends with its line. */
function inLine(value: string): string {
  return value.replace(/[\r\n]+/g, " ");
}

/** The best that brotli can do takes longer than it saves. */
const BROTLI_QUALITY = 5;

/** A compressed body: compressed in memory, or while it is sent if it comes from files. */
async function compressBody(body: RequestBody, how: Compression): Promise<RequestBody> {
  const zlib = await import("node:zlib");
  const brotli = { params: { [zlib.constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY } };
  const compressAll = (bytes: Uint8Array): Uint8Array =>
    how === "gzip"
      ? zlib.gzipSync(bytes)
      : how === "deflate"
      ? zlib.deflateSync(bytes)
      : zlib.brotliCompressSync(bytes, brotli);
  const { content } = body;
  if (!isStream(content)) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    return { ...body, content: compressAll(bytes), contentEncoding: how };
  }
  const { Readable, pipeline } = await import("node:stream");
  const open = (): AsyncIterable<Uint8Array> => {
    const transform = how === "gzip"
      ? zlib.createGzip()
      : how === "deflate"
      ? zlib.createDeflate()
      : zlib.createBrotliCompress(brotli);
    // Errors are thrown to the reader.
    pipeline(Readable.from(content.open()), transform, () => {});
    return transform;
  };
  return { ...body, content: { length: undefined, open }, contentEncoding: how };
}
