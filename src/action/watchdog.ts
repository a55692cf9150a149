import { isGranted } from "../host/deno_permissions.ts";

/**
 * A small process that outlives a crash of the program: it ends the commands that are still
 * running then, and removes their files.
 */
export interface Guard {
  /** A group of processes was started. */
  started(group: number): void;
  /** Nothing is left of a group. */
  ended(group: number): void;
  /** A folder was made for files that nobody needs after the run. Resolves once that is told. */
  made(folder: string): Promise<void>;
  /** Sends the guard home. Resolves when it has gone. */
  dismiss(): Promise<void>;
}

/**
 * Reads what it is told line by line. That its input ends is the news that the program is gone,
 * whatever ended it, since no process can keep its pipes open beyond its end.
 *
 * Each group is a variable, because shells find variables fast and cut long lists slowly. Its
 * environment is empty, so that no variable of the user is taken for one.
 */
const WATCH = `
trap '' HUP INT TERM
while read -r word what; do
  case $word in
    started) eval "group_$what=" ;;
    ended) unset "group_$what" ;;
    made) folder=$what ;;
    goodbye) exit ;;
  esac
done
set | while IFS== read -r name value; do
  case $name in
    group_*) kill -s KILL -- "-\${name#group_}" ;;
  esac
done
[ -z "$folder" ] || rm -rf -- "$folder"
`;

/** Stands where the system or the permissions allow no guard; commands run all the same. */
const NO_GUARD: Guard = {
  started() {},
  ended() {},
  made: () => Promise.resolve(),
  dismiss: () => Promise.resolve(),
};

/** Starts a guard. Nothing waits for it: what it is told lies in its pipe until it reads it. */
export function startGuard(): Guard {
  if (Deno.build.os === "windows") return NO_GUARD;
  // Without the permission, trying would make Deno ask the user for it.
  if (!isGranted({ name: "run", command: "/bin/sh" })) return NO_GUARD;
  let child: Deno.ChildProcess;
  try {
    child = new Deno.Command("/bin/sh", {
      args: ["-c", WATCH],
      cwd: "/",
      clearEnv: true,
      env: { PATH: "/usr/bin:/bin" },
      detached: true,
      stdin: "piped",
      stdout: "null",
      stderr: "null",
    }).spawn();
  } catch {
    return NO_GUARD;
  }
  child.unref();
  const encoder = new TextEncoder();
  const writer = child.stdin.getWriter();
  // A guard that somebody ended is no reason to fail a step.
  const tell = (line: string) => writer.write(encoder.encode(line + "\n")).catch(() => {});
  return {
    started: (group) => void tell(`started ${group}`),
    ended: (group) => void tell(`ended ${group}`),
    async made(folder) {
      if (!folder.includes("\n")) await tell(`made ${folder}`);
    },
    async dismiss() {
      child.ref();
      await tell("goodbye");
      await writer.close().catch(() => {});
      await child.status;
    },
  };
}
