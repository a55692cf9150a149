import type { Host } from "../../host/host.ts";

/** A path, in which `~/` is the home directory. */
export function homePath(path: string, { env }: Host): string {
  if (!/^~(?:\/|$)/.test(path)) return path;
  const home = env.get("HOME") ?? env.get("USERPROFILE");
  return home === undefined ? path : home + path.slice(1);
}
