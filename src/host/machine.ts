import { demand, isAllGranted } from "./deno_permissions.ts";
import type { Environment } from "./host.ts";

/** More connections at once make a run slower and use more memory, so they are asked for. */
const MAX_CONNECTIONS = 1024;

/** File descriptors for everything but requests. */
const RESERVED = 64;

/**
 * The maximum number of connections: RUNNER_MAX_CONNECTIONS, or 1024, but less than the number of
 * files that may be open, as running out of these would end the program.
 */
export function connectionLimit(
  env: Pick<Environment, "get">,
  limits: string | undefined = readLimits(),
): number {
  const most = Number(env.get("RUNNER_MAX_CONNECTIONS")?.trim()) || MAX_CONNECTIONS;
  const files = Number(/^Max open files\s+(\d+)/m.exec(limits ?? "")?.[1] ?? 1024);
  if (limits !== undefined && /^Max open files\s+unlimited/m.test(limits)) return most;
  return Math.max(1, Math.min(most, files - RESERVED));
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

/** The name of this machine; `unknown` where it may not be read. */
export function machineName(): string {
  try {
    demand({ name: "sys", kind: "hostname" });
    // `node:os` would take longer to load than a small run.
    return Deno.hostname();
  } catch {
    return "unknown";
  }
}

/** Makes a function that returns the processor time of this thread, in milliseconds. */
export async function cpuMeter(): Promise<() => number> {
  const { default: process } = await import("node:process");
  return () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
}
