import { mediaParameter, mediaType } from "../../response/content_type.ts";
import { type Content, isStream, lengthOf, type RequestBody } from "../request_body.ts";

/** A part of a multipart body whose file was found. */
export interface ReadyPart {
  readonly name: string;
  readonly content: Content;
  readonly type?: string;
  readonly filename?: string;
  /** The path of its file. */
  readonly file?: string;
  /** The text that it has otherwise. */
  readonly shown?: string;
}

/**
 * A multipart body. A multipart type that the step gives is kept, with the boundary that it names;
 * without one it gets that of the body.
 */
export function multipartBody(
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
