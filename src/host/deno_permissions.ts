type Name = "env" | "read" | "write" | "net" | "run" | "sys" | "ffi";

const NAMES: readonly Name[] = ["run", "read", "write", "net", "env", "sys", "ffi"];

/** By name: whether everything is allowed. It is asked for once, since nothing takes it back. */
const whole = new Map<Name, boolean>();

/**
 * Throws the `NotCapable` that Deno throws, where it would ask the user for a permission instead:
 * a question in the middle of a report is one that nobody expects. What was denied by a flag is
 * for Deno to refuse.
 */
export function demand(access: Deno.PermissionDescriptor & { readonly name: Name }): void {
  const { name } = access;
  if (isWholeGranted(name)) return;
  if (Deno.permissions.querySync(access).state !== "prompt") return;
  const what = subject(access);
  throw new Deno.errors.NotCapable(
    `Requires ${name} access${what === undefined ? "" : ` to "${what}"`}, ` +
      `run again with the --allow-${name} flag`,
  );
}

/** Throws where Deno would ask for permission to read the trusted certificates of TLS. */
export function demandCertificates(): void {
  // The types do not know of this kind, nor does the flag, which has to be given without one.
  demand({ name: "sys", kind: "ca" as "hostname" });
}

/** Whether Deno allows something without asking. */
export function isGranted(access: Deno.PermissionDescriptor & { readonly name: Name }): boolean {
  return isWholeGranted(access.name) || Deno.permissions.querySync(access).state === "granted";
}

/** Whether Deno allows everything, as it wants it for files of the system like those in `/proc`. */
export function isAllGranted(): boolean {
  return NAMES.every(isWholeGranted);
}

/** Whether the modules of a program at this URL may be read, which come when they are needed. */
export function canReadModules(url: string): boolean {
  // A bundle holds them all.
  if (!url.startsWith("file:") || !url.endsWith(".ts")) return true;
  return isWholeGranted("read") || isGranted({ name: "read", path: new URL("./src", url) });
}

function isWholeGranted(name: Name): boolean {
  let granted = whole.get(name);
  if (granted === undefined) {
    const { state, partial } = Deno.permissions.querySync({ name });
    whole.set(name, granted = state === "granted" && !partial);
  }
  return granted;
}

function subject(access: Deno.PermissionDescriptor): string | undefined {
  switch (access.name) {
    case "read":
    case "write":
    case "ffi":
      return access.path?.toString();
    case "run":
      return access.command?.toString();
    case "net":
      return access.host;
    case "env":
      return access.variable;
    case "sys":
      return access.kind;
    default:
      return undefined;
  }
}
