/**
 * Whether a process of the group is still at work; undefined where the system does not say.
 *
 * Signals reach processes that have ended as long as nobody has asked for their exit code, and
 * the parent that orphans get may take its time over that.
 */
export async function hasLivingMember(group: number): Promise<boolean | undefined> {
  if (Deno.build.os !== "linux" || !isAllPermitted()) return undefined;
  try {
    for await (const { name } of Deno.readDir("/proc")) {
      if (/^\d+$/.test(name) && await isLivingMember(name, group)) return true;
    }
    return false;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined; // No /proc here.
    throw error;
  }
}

/** Deno lets only programs with every permission read /proc, and would ask the user otherwise. */
function isAllPermitted(): boolean {
  const names = ["run", "read", "write", "net", "env", "sys", "ffi"] as const;
  return names.every((name) => Deno.permissions.querySync({ name }).state === "granted");
}

async function isLivingMember(pid: string, group: number): Promise<boolean> {
  let stat: string;
  try {
    stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  } catch {
    return false; // It ended meanwhile.
  }
  // After the name in brackets, which may hold anything: state, parent, group.
  const [state, , itsGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(itsGroup) === group && state !== "Z" && state !== "X";
}
