import { demand } from "./deno_permissions.ts";

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
