import { isAllGranted } from "../../../host/deno_permissions.ts";

/** More sockets at once make a run slower and larger. */
const MOST_SOCKETS = 1024;

/** What the program needs files and sockets for beside its requests. */
const RESERVED = 64;

/** How many sockets a run may have open: running out of files would end the program. */
export function socketLimit(limits: string | undefined = readLimits()): number {
  const files = Number(/^Max open files\s+(\d+)/m.exec(limits ?? "")?.[1] ?? 1024);
  if (limits !== undefined && /^Max open files\s+unlimited/m.test(limits)) return MOST_SOCKETS;
  return Math.max(1, Math.min(MOST_SOCKETS, files - RESERVED));
}

function readLimits(): string | undefined {
  // Deno would ask the user.
  if (!isAllGranted()) return undefined;
  try {
    return Deno.readTextFileSync("/proc/self/limits");
  } catch {
    return undefined;
  }
}
