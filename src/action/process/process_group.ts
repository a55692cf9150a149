import { demand, isGranted } from "../../host/deno_permissions.ts";
import type { Clock } from "../../host/host.ts";
import { hasLivingMember, MARK, markedProcesses } from "./process_table.ts";

/** A command with everything that it starts: they are ended together. */
export interface ProcessGroup {
  readonly pid: number;
  readonly child: Deno.ChildProcess;
  /** The end of the command itself; processes that it started may still run. */
  readonly status: Promise<Deno.CommandStatus>;
  /**
   * Whether signals reach all of it. An `--allow-run` that names programs lets them reach the
   * command alone, and what it left behind cannot be known.
   */
  readonly isWhole: boolean;
  /** Whether any of its processes is left. */
  isAlive(): Promise<boolean>;
  /**
   * Ends all of its processes: kindly first, then by force, or at once by force. Resolves when they
   * are gone.
   */
  end(how?: "by force"): Promise<void>;
}

/** The time that processes have to end by themselves once they are asked to. */
const GRACE = 500;

/** The time that the system may take to end a process after a signal. */
const PATIENCE = 2000;

const WINDOWS = Deno.build.os === "windows";

/**
 * Starts a program in a group of its own, with a mark in its environment by which processes are
 * found that leave the group, like daemons. Throws what `Deno.Command` throws.
 */
export function startGroup(
  program: string,
  options: Deno.CommandOptions,
  clock: Clock,
  mark: string,
): ProcessGroup {
  // For variables that load code into any program Deno wants the permission for all.
  const injectsLibraries = Object.keys(options.env ?? {}).some((name) => /^(LD|DYLD)_/.test(name));
  demand(injectsLibraries ? { name: "run" } : { name: "run", command: program });
  const child = new Deno.Command(program, {
    ...options,
    env: { ...options.env, [MARK]: mark },
    detached: !WINDOWS,
  }).spawn();
  // Asked before it is tried, because trying would make Deno ask the user.
  const isWhole = !WINDOWS && isGranted({ name: "run" });
  const signal = isWhole ? signalGroup : signalChild;
  let hasExited = false;
  const status = child.status.then((status) => {
    hasExited = true;
    return status;
  });

  const isAlive = async () => {
    if (!hasExited) return true;
    return isWhole && signalGroup(child, 0) && (await hasLivingMember(child.pid) ?? true);
  };
  const isGoneWithin = async (milliseconds: number) => {
    const end = clock.ticks() + milliseconds;
    for (let pause = 1; await isAlive(); pause = Math.min(2 * pause, 50)) {
      if (clock.ticks() >= end) return false;
      await new Promise<void>((resolve) => clock.after(pause, resolve));
    }
    return true;
  };
  const endGroup = async (how?: "by force") => {
    if (!await isAlive()) return;
    if (WINDOWS) return await endTree(child);
    if (!how) {
      signal(child, "SIGTERM");
      if (await isGoneWithin(GRACE)) return;
    }
    signal(child, "SIGKILL");
    await isGoneWithin(PATIENCE);
  };
  const end = async (how?: "by force") => {
    await endGroup(how);
    await endMarked(mark, clock);
  };
  return { pid: child.pid, child, status, isWhole, isAlive, end };
}

/** Ends the processes with a mark: kindly first, then by force. */
export async function endMarked(mark: string, clock: Clock): Promise<void> {
  const isGone = async (signal: Deno.Signal, milliseconds: number) => {
    const pids = await markedProcesses(mark);
    for (const pid of pids) signalProcess(pid, signal);
    const end = clock.ticks() + milliseconds;
    while ((await markedProcesses(mark)).length > 0) {
      if (clock.ticks() >= end) return false;
      await new Promise<void>((resolve) => clock.after(20, resolve));
    }
    return true;
  };
  if ((await markedProcesses(mark)).length === 0) return;
  if (!await isGone("SIGTERM", GRACE)) await isGone("SIGKILL", PATIENCE);
}

function signalProcess(pid: number, signal: Deno.Signal): void {
  try {
    Deno.kill(pid, signal);
  } catch {
    // It has ended.
  }
}

/** Sends a signal to every process of a group; 0 only asks. False where none could get it. */
function signalGroup({ pid }: Deno.ChildProcess, signal: Deno.Signal | 0): boolean {
  try {
    Deno.kill(-pid, signal);
    return true;
  } catch {
    return false; // It has ended, or belongs to another user.
  }
}

function signalChild(child: Deno.ChildProcess, signal: Deno.Signal): boolean {
  try {
    child.kill(signal);
    return true;
  } catch {
    return false; // It has ended.
  }
}

async function endTree(child: Deno.ChildProcess): Promise<void> {
  const args = ["/PID", String(child.pid), "/T", "/F"];
  try {
    demand({ name: "run", command: "taskkill" });
    await new Deno.Command("taskkill", { args, stdin: "null", stdout: "null", stderr: "null" })
      .output();
  } catch {
    signalChild(child, "SIGKILL");
  }
  await child.status;
}
