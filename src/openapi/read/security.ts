import type { Requirement, SecurityScheme } from "./api.ts";
import { isHeaderName, isMap, listOf, mapOf, rawText } from "./raw.ts";

/** Reads `components.securitySchemes`, or the `securityDefinitions` of 2.0. */
export function decodeSchemes(raw: unknown): Map<string, SecurityScheme> {
  return new Map(
    Object.entries(mapOf(raw)).map(([name, scheme]) => [name, decodeScheme(mapOf(scheme))]),
  );
}

function decodeScheme(raw: Readonly<Record<string, unknown>>): SecurityScheme {
  const type = rawText(raw.type) ?? "";
  const scheme = rawText(raw.scheme)?.toLowerCase() ?? "";
  if (type === "oauth2" || type === "openIdConnect") return { kind: "bearer" };
  if (type === "basic" || type === "http" && scheme === "basic") return { kind: "basic" };
  if (type === "http" && scheme === "bearer") return { kind: "bearer" };
  const name = rawText(raw.name);
  const place = raw.in;
  if (type === "apiKey" && name !== undefined) {
    const isUsable = place !== "header" || isHeaderName(name);
    if (isUsable && (place === "header" || place === "query" || place === "cookie")) {
      return { kind: "key", place, name };
    }
  }
  return { kind: "unknown", type: type === "http" ? scheme || type : type || "none" };
}

/** Reads `security`: alternative requirements. Undefined if it is absent. */
export function decodeSecurity(raw: unknown): Requirement[] | undefined {
  if (!Array.isArray(raw)) return undefined;
  return listOf(raw).flatMap((entry) => isMap(entry) ? [Object.keys(entry)] : []);
}
