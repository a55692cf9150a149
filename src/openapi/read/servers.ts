import { listOf, mapOf, textOf } from "./raw.ts";

/** The first server of a list, with its variables filled in; undefined where there is none. */
export function decodeServer(raw: unknown): string | undefined {
  const server = mapOf(listOf(raw)[0]);
  const url = textOf(server.url);
  if (url === undefined) return undefined;
  const variables = mapOf(server.variables);
  return url.trim().replace(/\{([^{}]*)\}/g, (whole, name: string) => {
    const variable = Object.hasOwn(variables, name) ? mapOf(variables[name]) : {};
    const value = variable.default ?? listOf(variable.enum)[0];
    return value === undefined ? whole : String(value);
  });
}

/** Where an API is served, without a slash at the end. What names no host is on this machine. */
export function absoluteServer(url: string): string {
  const isFull = /^[a-z][a-z0-9+.-]*:\/\//i.test(url);
  const full = isFull
    ? url
    : url.startsWith("//")
    ? `https:${url}`
    : `http://localhost/${url.replace(/^\.?\/+|^\.$/, "")}`;
  return full.replace(/\/+$/, "");
}
