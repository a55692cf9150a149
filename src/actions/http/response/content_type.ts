/** The media type of a `content-type` header, without its parameters, in lower case. */
export function mediaType(contentType: string): string {
  return contentType.split(";", 1)[0]!.trim().toLowerCase();
}

const PARAMETERS = {
  charset: /;\s*charset\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i,
  boundary: /;\s*boundary\s*=\s*(?:"([^"]*)"|([^\s;"]+))/i,
} as const;

/** A parameter of a `content-type` header. */
export function mediaParameter(
  contentType: string,
  name: keyof typeof PARAMETERS,
): string | undefined {
  const [, quoted, plain] = PARAMETERS[name].exec(contentType) ?? [];
  return quoted ?? plain;
}

/** Whether a media type is JSON, by name or by suffix. */
export function isJsonType(type: string): boolean {
  return type === "application/json" || type === "text/json" || type.endsWith("+json");
}

/** The file extension for a binary body of that media type. */
export function fileSuffix(type: string): string {
  if (type.startsWith("text/") || isJsonType(type)) return ".bin";
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
