import { isAllGranted } from "./deno_permissions.ts";

/** More connections at once make a run slower and use more memory. */
const MAX_CONNECTIONS = 1024;

/** File descriptors for everything but requests. */
const RESERVED = 64;

/** The maximum number of connections: running out of file descriptors would end the program. */
export function connectionLimit(limits: string | undefined = readLimits()): number {
  const files = Number(/^Max open files\s+(\d+)/m.exec(limits ?? "")?.[1] ?? 1024);
  if (limits !== undefined && /^Max open files\s+unlimited/m.test(limits)) return MAX_CONNECTIONS;
  return Math.max(1, Math.min(MAX_CONNECTIONS, files - RESERVED));
}

function readLimits(): string | undefined {
  // Deno would prompt for the permission.
  if (!isAllGranted()) return undefined;
  try {
    return Deno.readTextFileSync("/proc/self/limits");
  } catch {
    return undefined;
  }
}
