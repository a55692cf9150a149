import { resolve } from "@std/path/resolve";
import { StepError } from "../../../../base/errors.ts";
import type { ActionContext, Dict } from "../../../../action/action.ts";
import {
  fileProblem,
  readablePath,
  readStepText,
  type StepFile,
} from "../../../../action/step_file.ts";
import type { Content, ContentStream, RequestBody } from "../request_body.ts";
import { compressBody } from "./compress.ts";
import { graphqlText } from "./graphql.ts";
import { typeByExtension } from "./media_types.ts";
import { multipartBody, type ReadyPart } from "./multipart.ts";
import type { Upload, UploadPart } from "./upload.ts";

/** A body that can be sent, and what `req` says of it. */
export interface OpenUpload {
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
      let left = length ?? Infinity;
      while (left > 0) {
        const chunk = new Uint8Array(Math.min(CHUNK, left));
        const count = await file.read(chunk);
        if (count === null) break;
        left -= count;
        yield chunk.subarray(0, count);
      }
      if (left > 0 && length !== undefined) {
        const message =
          `the file "${path}" became shorter while it was sent: it had ${length} bytes`;
        throw new StepError(message, undefined, { parameter });
      }
    },
  };
}
