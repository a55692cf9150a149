import { demand, isAllGranted, isGranted } from "../../host/deno_permissions.ts";
import type { Clock } from "../../host/host.ts";

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
  isAlive(): boolean;
  /** The command lines of its processes; undefined where the system does not say. */
  commands(): readonly string[] | undefined;
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
 * Starts a program in a group and a session of its own. A process that leaves the session, like a
 * daemon, does so to live on; one that only leaves the group, like `timeout 5 …`, does not. Throws
 * what `Deno.Command` throws.
 */
export function startGroup(
  program: string,
  options: Deno.CommandOptions,
  clock: Clock,
): ProcessGroup {
  // For variables that load code into any program Deno wants the permission for all.
  const injectsLibraries = Object.keys(options.env ?? {}).some((name) => /^(LD|DYLD)_/.test(name));
  demand(injectsLibraries ? { name: "run" } : { name: "run", command: program });
  const child = new Deno.Command(program, {
    ...options,
    detached: options.detached || !WINDOWS,
  }).spawn();
  // Asked before it is tried, because trying would make Deno ask the user.
  const isWhole = !WINDOWS && isGranted({ name: "run" });
  let hasExited = false;
  const status = child.status.then((status) => {
    hasExited = true;
    return status;
  });

  const isAlive = () => {
    if (!hasExited) return true;
    if (!isWhole) return false;
    const members = livingMembers(child.pid);
    return members === undefined ? signalGroup(child.pid, 0) : members.length > 0;
  };
  const signal = (signal: Deno.Signal) =>
    isWhole ? signalSession(child.pid, signal) : void signalChild(child, signal);
  const isGoneWithin = async (milliseconds: number) => {
    const end = clock.ticks() + milliseconds;
    for (let pause = 1; isAlive(); pause = Math.min(2 * pause, 50)) {
      if (clock.ticks() >= end) return false;
      await new Promise<void>((resolve) => clock.after(pause, resolve));
    }
    return true;
  };
  const end = async (how?: "by force") => {
    if (!isAlive()) return;
    if (WINDOWS) return await endTree(child);
    if (!how) {
      signal("SIGTERM");
      if (await isGoneWithin(GRACE)) return;
    }
    signal("SIGKILL");
    await isGoneWithin(PATIENCE);
  };
  const commands = () => livingMembers(child.pid)?.map(({ pid }) => commandOf(pid));
  return { pid: child.pid, child, status, isWhole, isAlive, commands, end };
}

/** Sends a signal to every process of a session. */
export function signalSession(session: number, signal: Deno.Signal): void {
  const members = livingMembers(session) ?? [];
  for (const group of new Set([session, ...members.map(({ group }) => group)])) {
    signalGroup(group, signal);
  }
}

/** Sends a signal to every process of a group; 0 only asks. False where none could get it. */
function signalGroup(group: number, signal: Deno.Signal | 0): boolean {
  try {
    Deno.kill(-group, signal);
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

interface Member {
  readonly pid: string;
  readonly group: number;
}

/**
 * The processes of a session that are still at work; undefined where the system does not say.
 *
 * Signals reach processes that have ended as long as nobody has asked for their exit code, and
 * the parent that orphans get may take its time over that.
 */
function livingMembers(session: number): Member[] | undefined {
  if (Deno.build.os !== "linux" || !isAllGranted()) return undefined;
  // Processes that start later have higher ids, but for those after the highest.
  const first = signalGroup(session, 0) ? 0 : session;
  try {
    return [...Deno.readDirSync("/proc")].flatMap(({ name: pid }) => {
      const group = Number(pid) >= first ? livingGroup(pid, session) : undefined;
      return group === undefined ? [] : { pid, group };
    });
  } catch (error) {
    // No /proc here, or a flag that denies something else closes it too.
    if (error instanceof Deno.errors.NotFound) return undefined;
    if (error instanceof Deno.errors.NotCapable) return undefined;
    throw error;
  }
}

/** The group of a process that is at work in a session. */
function livingGroup(pid: string, session: number): number | undefined {
  const stat = readProcess(pid, "stat");
  // After the name in brackets, which may hold anything: state, parent, group, session.
  const [state, , group, itsSession] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return Number(itsSession) === session && state !== "Z" && state !== "X"
    ? Number(group)
    : undefined;
}

function commandOf(pid: string): string {
  return readProcess(pid, "cmdline").replaceAll(/[\0\s]+/g, " ").trim();
}

/** What the system says of a process; empty if it has ended meanwhile. */
function readProcess(pid: string, file: "stat" | "cmdline"): string {
  try {
    return Deno.readTextFileSync(`/proc/${pid}/${file}`);
  } catch {
    return "";
  }
}

/** Writes all of a text to a command, which need not read it. */
export async function feed(stdin: WritableStream<Uint8Array>, text: string): Promise<void> {
  const writer = stdin.getWriter();
  try {
    await writer.write(new TextEncoder().encode(text));
    await writer.close();
  } catch {
    // The command has ended, or has closed its input, before it read everything.
  }
}
