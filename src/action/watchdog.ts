import { isGranted } from "../host/deno_permissions.ts";

/**
 * A small process that outlives a crash of the program: it ends the commands that are still
 * running then, and removes their files.
 */
export interface Watchdog {
  /** A group of processes was started. */
  started(group: number): void;
  /** Nothing is left of a group. */
  ended(group: number): void;
  /** Registers a temporary directory of the run. Resolves once it has been written. */
  made(directory: string): Promise<void>;
  /** Ends the watchdog. Resolves when it has gone. */
  dismiss(): Promise<void>;
}

/**
 * Reads messages line by line. The end of its input means that the program is gone, whatever ended
 * it, since no process can keep its pipes open beyond its end.
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
    made) directory=$what ;;
    goodbye) exit ;;
  esac
done
for stat in /proc/[0-9]*/stat; do
  # After the name in brackets: state, parent, group, session.
  read -r line < "$stat" && set -- \${line##*) } && eval "[ \\\${group_$4+left} ]" &&
    kill -s KILL -- "-$3"
done
set | while IFS== read -r name value; do
  case $name in
    group_*) kill -s KILL -- "-\${name#group_}" ;;
  esac
done
[ -z "$directory" ] || rm -rf -- "$directory"
`;

/** Used where the system or the permissions allow no watchdog; commands run all the same. */
const NO_WATCHDOG: Watchdog = {
  started() {},
  ended() {},
  made: () => Promise.resolve(),
  dismiss: () => Promise.resolve(),
};

/** Starts a watchdog. Nothing waits for it: its pipe holds messages until it reads them. */
export function startWatchdog(): Watchdog {
  if (Deno.build.os === "windows") return NO_WATCHDOG;
  // Without the permission, trying would make Deno ask the user for it.
  if (!isGranted({ name: "run", command: "/bin/sh" })) return NO_WATCHDOG;
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
    return NO_WATCHDOG;
  }
  child.unref();
  const encoder = new TextEncoder();
  const writer = child.stdin.getWriter();
  // A watchdog that was killed does not fail a step.
  const send = (line: string) => writer.write(encoder.encode(line + "\n")).catch(() => {});
  return {
    started: (group) => void send(`started ${group}`),
    ended: (group) => void send(`ended ${group}`),
    async made(directory) {
      if (!directory.includes("\n")) await send(`made ${directory}`);
    },
    async dismiss() {
      child.ref();
      await send("goodbye");
      await writer.close().catch(() => {});
      await child.status;
    },
  };
}
