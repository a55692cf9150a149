import { isAllGranted } from "../../host/deno_permissions.ts";

/**
 * Whether a process of the group is still at work; undefined where the system does not say.
 *
 * Signals reach processes that have ended as long as nobody has asked for their exit code, and
 * the parent that orphans get may take its time over that.
 */
export async function hasLivingMember(group: number): Promise<boolean | undefined> {
  if (Deno.build.os !== "linux" || !isAllGranted()) return undefined;
  try {
    for await (const { name } of Deno.readDir("/proc")) {
      if (/^\d+$/.test(name) && await isLivingMember(name, group)) return true;
    }
    return false;
  } catch (error) {
    // No /proc here, or a flag that denies something else closes it too.
    if (error instanceof Deno.errors.NotFound) return undefined;
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}

/** The variable by which processes are found that left the group of their command. */
export const MARK = "RUNNER_MARK";

/**
 * The processes that have a text in the variable `MARK`, but this one. Only Linux shows them, and only
 * of processes of this user.
 */
export async function markedProcesses(mark: string): Promise<number[]> {
  if (Deno.build.os !== "linux" || !isAllGranted()) return [];
  const found: number[] = [];
  try {
    for await (const { name } of Deno.readDir("/proc")) {
      if (!/^\d+$/.test(name) || Number(name) === Deno.pid) continue;
      const environment = await Deno.readTextFile(`/proc/${name}/environ`).catch(() => "");
      const value = environment.split("\0").find((variable) => variable.startsWith(`${MARK}=`));
      if (value?.includes(mark)) found.push(Number(name));
    }
  } catch (error) {
    // No /proc here, or a flag that denies something else closes it too.
    const isClosed = error instanceof Deno.errors.NotFound ||
      error instanceof Deno.errors.NotCapable;
    if (!isClosed) throw error;
  }
  return found;
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
