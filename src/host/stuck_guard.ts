import { isGranted } from "./deno_permissions.ts";

/** Milliseconds until the first answer of a program that should end, and between those that follow. */
const PATIENCE = { first: 1000, next: 3000 };

/**
 * The code of the guard. It receives the signals itself, since a stuck program does not: from the
 * first one on, or from the deadline on, it asks the program for an answer, and ends it without one.
 */
const GUARD = `
let answered = 0;
let patience = ${PATIENCE.first};
let asking;
const ask = (why) => {
  if (asking) return;
  answered = Date.now();
  asking = setInterval(() => {
    if (Date.now() - answered < patience) return postMessage("answer");
    clearInterval(asking);
    const text = "runner: error: " + why + ", and the program did not react: it was ended\\n";
    const said = Deno.stderr.write(new TextEncoder().encode(text)).catch(() => {});
    const kill = () => {
      endCommands();
      Deno.kill(Deno.pid, "SIGKILL");
    };
    setTimeout(kill, 200);
    said.then(kill);
  }, 250);
};
const processes = function* () {
  for (const { name } of Deno.readDirSync("/proc")) {
    try {
      // After the name in brackets: state, parent, group, session.
      const stat = Deno.readTextFileSync("/proc/" + name + "/stat");
      const [, parent, group, session] = stat.slice(stat.lastIndexOf(")") + 2).split(" ").map(Number);
      yield { parent, group, session };
    } catch {}
  }
};
const endCommands = () => {
  try {
    const all = [...processes()];
    const isCommand = ({ parent, group, session }) => parent === Deno.pid && session === group;
    const sessions = new Set(all.filter(isCommand).map(({ session }) => session));
    for (const { group, session } of all) if (sessions.has(session)) Deno.kill(-group, "SIGKILL");
  } catch {}
};
onmessage = ({ data }) => {
  if (data === "here") {
    answered = Date.now();
    patience = ${PATIENCE.next};
    return;
  }
  for (const signal of data.signals) {
    Deno.addSignalListener(signal, () => ask("interrupted by " + signal));
  }
  if (data.deadline !== undefined) {
    setTimeout(() => ask(data.reason), Math.max(0, data.deadline - Date.now()));
  }
};
`;

/** When a program has to end by itself. */
interface GuardOptions {
  readonly signals: readonly Deno.Signal[];
  /** Milliseconds since 1970, and what to say then. */
  readonly deadline?: number;
  readonly reason?: string;
}

/**
 * Starts a guard, a worker that ends the program where its main thread does not react to a signal
 * or to its deadline any more, and on Linux the commands that it has started. The result stops the
 * guard.
 */
export function startStuckGuard(options: GuardOptions): () => void {
  // Ending a process, even the own one, takes the whole permission.
  if (!isGranted({ name: "run" })) return () => {};
  let worker: Worker;
  try {
    worker = new Worker(`data:text/javascript,${encodeURIComponent(GUARD)}`, { type: "module" });
  } catch {
    return () => {};
  }
  worker.onmessage = () => worker.postMessage("here");
  worker.postMessage(options);
  return () => worker.terminate();
}
