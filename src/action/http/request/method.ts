import { isToken } from "./header_names.ts";

/** What is wrong with a method; undefined if nothing is. */
export function methodProblem(method: string): string | undefined {
  if (!isToken(method)) return `"${method}" cannot be a method`;
  // It asks a proxy for a tunnel, and what comes back is no response.
  if (method.toUpperCase() === "CONNECT") return `the method "${method}" is not supported`;
  return undefined;
}

/**
 * Whether a request may be sent once more when a connection was closed before any answer came:
 * doing it twice leaves the server as doing it once.
 */
export function mayRepeat(method: string): boolean {
  return REPEATABLE.has(method);
}

const REPEATABLE: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS", "PUT", "DELETE"]);
