import { isDict, type Value } from "../../base/value/value.ts";
import type { Body } from "../read/api.ts";
import { mapOf } from "../read/raw.ts";
import { shapeOf } from "../read/schema.ts";

const BOUNDARY = "runner-part";

/** A multipart form as text; files are small text files. */
export function multipartSample(value: Value, schema: unknown): Body {
  const { properties } = shapeOf(schema);
  const parts = isDict(value) ? Object.entries(value) : [["value", value] as const];
  const lines = parts.flatMap(([name, part]) => {
    const field = mapOf(properties.get(name));
    const isFile = isBinary(field) || isBinary(mapOf(field.items));
    return (Array.isArray(part) && isFile ? part : [part]).flatMap((item: Value) => [
      `--${BOUNDARY}`,
      `Content-Disposition: form-data; name="${quoted(name)}"` +
      (isFile ? '; filename="file.txt"' : ""),
      ...(isFile
        ? ["Content-Type: application/octet-stream"]
        : typeof item === "object"
        ? ["Content-Type: application/json"]
        : []),
      "",
      typeof item === "string" ? item : JSON.stringify(item),
    ]);
  });
  const text = [...lines, `--${BOUNDARY}--`, ""].join("\r\n");
  return { contentType: `multipart/form-data; boundary=${BOUNDARY}`, value: text };
}

function isBinary(schema: Readonly<Record<string, unknown>>): boolean {
  return schema.format === "binary" || schema.type === "file" ||
    schema.contentMediaType === "application/octet-stream";
}

function quoted(name: string): string {
  return name.replace(/["\r\n]/g, (mark) => encodeURIComponent(mark));
}
