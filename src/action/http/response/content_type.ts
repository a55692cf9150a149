/** The media type of a `content-type` header, without its parameters, in lower case. */
export function mediaType(contentType: string): string {
  return contentType.split(";", 1)[0]!.trim().toLowerCase();
}

/** The `charset` of a `content-type` header. */
export function charset(contentType: string): string | undefined {
  const [, quoted, plain] = /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i.exec(contentType) ?? [];
  return quoted ?? plain;
}

/** Whether a media type is JSON, by name or by suffix. */
export function isJsonType(type: string): boolean {
  return type === "application/json" || type === "text/json" || type.endsWith("+json");
}

/** Whether a body of that `content-type` is meant for people or parsers rather than for a file. */
export function isTextType(contentType: string): boolean {
  const type = mediaType(contentType);
  return type.startsWith("text/") || isJsonType(type) || type.endsWith("+xml") ||
    type.endsWith("+yaml") || TEXT_TYPES.has(type) || charset(contentType) !== undefined;
}

const TEXT_TYPES: ReadonlySet<string> = new Set([
  "application/ecmascript",
  "application/graphql",
  "application/javascript",
  "application/json-seq",
  "application/jsonl",
  "application/ndjson",
  "application/sql",
  "application/toml",
  "application/x-javascript",
  "application/x-ndjson",
  "application/x-sh",
  "application/x-toml",
  "application/x-www-form-urlencoded",
  "application/x-yaml",
  "application/xml",
  "application/yaml",
]);

/** How the name of a file of that media type ends. */
export function fileSuffix(type: string): string {
  const known = SUFFIXES.get(type);
  if (known !== undefined) return known;
  const [, subtype = ""] = type.split("/", 2);
  return /^[a-z0-9]{2,5}$/.test(subtype) ? `.${subtype}` : ".bin";
}

const SUFFIXES: ReadonlyMap<string, string> = new Map([
  ["application/gzip", ".gz"],
  ["application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx"],
  ["application/vnd.openxmlformats-officedocument.wordprocessingml.document", ".docx"],
  ["application/x-tar", ".tar"],
  ["audio/mpeg", ".mp3"],
  ["image/jpeg", ".jpg"],
  ["image/vnd.microsoft.icon", ".ico"],
  ["image/x-icon", ".ico"],
  ["video/quicktime", ".mov"],
]);
