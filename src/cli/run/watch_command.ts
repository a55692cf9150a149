import { countOf } from "../../base/text/count_of.ts";
import { resolve } from "@std/path/resolve";
import type { Host, SignalName } from "../../host/host.ts";
import { LoadError, RunnerError } from "../../base/errors.ts";
import { printableLine } from "../../base/text/printable.ts";
import type { FailedIds, FailedJobs } from "../../suite/failed_jobs.ts";
import type { SuiteMember } from "../../suite/suite.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { WatchedFiles } from "./watched_files.ts";
import { explainError } from "../messages.ts";

/** Milliseconds without a change before something runs: editors write a file in several steps. */
const QUIET = 100;

/** Clears a terminal and its scrollback. */
const CLEAR = "\x1b[2J\x1b[3J\x1b[H";

/** The rest of a run when none of its workflows is affected by a change. */
class NothingAffected extends Error {}

/** Why something runs; the first run has no reason. */
interface Trigger {
  readonly changes?: readonly string[];
  /** The failed jobs that are to run. */
  readonly failed?: FailedIds;
}

/**
 * Runs workflows, and again whatever is affected when a file changes that they have read, or what
 * a key asks for, until a signal or a key ends it. What cannot be loaded is reported, and watched
 * further.
 */
export async function watchCommand(
  invocation: Invocation,
  program: Program,
  runOnce: (invocation: Invocation, program: Program) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { host } = program;
  const initialSecrets = [...program.secrets];
  const signals = watchSignals(host);
  const keys = await WatchKeys.open(host, () => signals.raise("SIGINT"));
  let failed: FailedIds = new Map();
  const noteFailed = (jobs: FailedJobs) => failed = jobs.after(failed);
  const switches = without(invocation.switches, "watch");
  let known: WatchedFiles | undefined;
  let trigger: Trigger = {};
  let code: ExitCode = 0;
  try {
    while (signals.received === undefined) {
      const files = new WatchedFiles({ ...host, signals: signals.ofRuns });
      const secrets = [...initialSecrets];
      const { changes = [], failed: wanted } = trigger;
      const select = (members: readonly SuiteMember[]) => {
        if (!known) return members;
        if (wanted) files.inherit(known, members);
        if (wanted || !trigger.changes) return members;
        const chosen = known.select(changes, members);
        if (chosen.length === 0) throw new NothingAffected();
        files.inherit(known, members.filter((member) => !chosen.includes(member)));
        return chosen;
      };
      begin(trigger, known !== undefined, host);
      try {
        code = await runOnce(
          { ...invocation, switches: wanted ? new Set([...switches, "rerun-failed"]) : switches },
          {
            ...program,
            host: files.host(),
            secrets,
            watching: { host, files, select, failed: wanted, noteFailed },
          },
        );
        known = files;
      } catch (error) {
        if (error instanceof NothingAffected) await known?.accept(changes);
        else {
          // A mistake in the command line does not disappear by itself.
          if (!known && !(error instanceof LoadError)) throw error;
          if (!(error instanceof RunnerError)) throw error;
          host.stderr.write(explainError(error, host, secrets));
          code = 1;
          known = files;
        }
      }
      if (!known || signals.received !== undefined) continue;
      await known.settle();
      await Promise.all([host.stdout.flush(), host.stderr.flush()]);
      trigger = await nextTrigger({ known, host, signals, keys, failed, last: trigger, code });
    }
  } finally {
    keys?.close();
    signals.stop();
  }
  return code;
}

/** Says why it runs again, and when, on a terminal that is cleared for what follows. */
function begin(
  { changes, failed }: Trigger,
  isAgain: boolean,
  { stdout, stderr, files, clock }: Host,
): void {
  if (stdout.isTerminal) stdout.write(CLEAR);
  if (!isAgain) return;
  const directory = `${files.workingDirectory()}/`;
  const names = changes?.map((path) =>
    path.startsWith(directory) ? path.slice(directory.length) : path
  );
  const why = names
    ? `${printableLine(names.join(", "))} changed`
    : failed
    ? "failed jobs again"
    : "everything again";
  stderr.write(`${why}, ${new Date(clock.now()).toTimeString().slice(0, 8)}\n`);
}

interface Waiting {
  readonly known: WatchedFiles;
  readonly host: Host;
  readonly signals: WatchedSignals;
  readonly keys: WatchKeys | undefined;
  readonly failed: FailedIds;
  readonly last: Trigger;
  /** The exit code of the last run. */
  readonly code: ExitCode;
}

/** Waits until files have changed or a key asks for a run; the result is unused after a signal. */
async function nextTrigger(waiting: Waiting): Promise<Trigger> {
  const { known, host: { files, clock, stderr }, signals, keys, last } = waiting;
  const pending = new Set<string>();
  let wake = () => {};
  const stop = await files.watch(known.directories(), (path) => {
    const at = resolve(files.workingDirectory(), path);
    if (!known.concerns(at)) return;
    pending.add(at);
    wake();
  });
  const stopSignals = signals.onReceived(() => wake());
  const stopKeys = keys?.onPressed(() => wake());
  const end = keys ? "h shows the keys, q quits" : "Ctrl-C ends";
  stderr.write(`watching ${countOf(known.size, "file")}, ${end}\n`);
  try {
    // Files that changed during the run changed before they were watched.
    for (const path of await known.changed()) pending.add(path);
    while (signals.received === undefined) {
      const wanted = triggerOf(keys?.take(), waiting);
      if (wanted) return wanted;
      if (pending.size === 0) await new Promise<void>((resolve) => wake = resolve);
      if (pending.size === 0) continue;
      for (let size = -1; size !== pending.size && signals.received === undefined;) {
        size = pending.size;
        await new Promise<void>((resolve) => clock.after(QUIET, resolve));
      }
      const paths = [...pending];
      pending.clear();
      const changes = await known.changed(paths);
      if (changes.length > 0) return { changes };
    }
    // A terminal has written ^C into the line.
    if (!keys && stderr.isTerminal) stderr.write("\n");
    return last;
  } finally {
    stopKeys?.();
    stopSignals();
    stop();
  }
}

/** The run that a key asks for. */
function triggerOf(
  action: KeyAction | undefined,
  { failed, last, code, host: { stderr } }: Waiting,
): Trigger | undefined {
  switch (action) {
    case "all":
      return {};
    case "again":
      return last;
    case "failed":
      if (failed.size > 0) return { failed: new Map(failed) };
      // What could not be loaded has no jobs.
      if (code !== 0) return {};
      stderr.write("no job has failed\n");
      return undefined;
    case "help":
      stderr.write(renderKeys());
      return undefined;
    default:
      return undefined;
  }
}

interface WatchedSignals {
  /** The first signal, once there was one. */
  readonly received: SignalName | undefined;
  /** The signals for runs: also one that came before a run listens. */
  readonly ofRuns: Host["signals"];
  /** Calls `listener` at a signal, until the result is called. */
  readonly onReceived: (listener: () => void) => () => void;
  /** Simulates that signal. */
  readonly raise: (signal: SignalName) => void;
  readonly stop: () => void;
}

/** Handles signals all the time, because nothing else does while files are loaded. */
function watchSignals({ signals }: Host): WatchedSignals {
  let received: SignalName | undefined;
  const listeners = new Set<(signal: SignalName) => void>();
  const raise = (signal: SignalName) => {
    received ??= signal;
    for (const listener of listeners) listener(signal);
  };
  const stop = signals.listen(raise);
  const add = (listener: (signal: SignalName) => void) => {
    listeners.add(listener);
    if (received) listener(received);
    return () => void listeners.delete(listener);
  };
  return {
    get received() {
      return received;
    },
    ofRuns: {
      listen(listener, timeout) {
        const forget = add(listener);
        const end = signals.listen(() => {}, timeout);
        return () => {
          forget();
          end();
        };
      },
    },
    onReceived: add,
    raise,
    stop,
  };
}

function without(switches: ReadonlySet<string>, name: string): ReadonlySet<string> {
  return new Set([...switches].filter((one) => one !== name));
}

/** The effect of a key. */
type KeyAction = "all" | "failed" | "again" | "quit" | "help";

interface Key {
  readonly action: KeyAction;
  /** What the terminal sends. */
  readonly sent: readonly string[];
  readonly label: string;
  readonly summary: string;
}

const KEYS: readonly Key[] = [
  { action: "all", sent: ["a", "A"], label: "a", summary: "run everything" },
  { action: "failed", sent: ["f", "F"], label: "f", summary: "run the jobs that failed" },
  { action: "again", sent: ["\n", "\r"], label: "Enter", summary: "run the same again" },
  // Where Ctrl-C is not a signal, it is a key.
  { action: "quit", sent: ["q", "Q", "\x03"], label: "q", summary: "quit" },
  { action: "help", sent: ["h", "H", "?"], label: "h", summary: "show these keys" },
];

/** The keys, one a line. */
function renderKeys(): string {
  return KEYS.map(({ label, summary }) => `  ${label.padEnd(7)}${summary}\n`).join("");
}

/** The keys of a terminal. One that is pressed during a run takes effect after it, except quit. */
class WatchKeys {
  /** Gives the terminal back. */
  close = () => {};
  #pressed: KeyAction | undefined;
  #wake = () => {};

  /** Begins to read them; undefined without a terminal. */
  static async open(
    { stdin, stderr }: Host,
    onQuit: () => void,
  ): Promise<WatchKeys | undefined> {
    if (!stdin.isTerminal || !stderr.isTerminal) return undefined;
    const keys = new WatchKeys();
    keys.close = await stdin.readKeys((key) => {
      const action = KEYS.find(({ sent }) => sent.includes(key))?.action;
      if (action === "quit") return onQuit();
      keys.#pressed = action ?? keys.#pressed;
      keys.#wake();
    });
    return keys;
  }

  /** Calls `listener` when a key is pressed, until the result is called. */
  onPressed(listener: () => void): () => void {
    this.#wake = listener;
    return () => this.#wake = () => {};
  }

  /** The effect of the last key, once. */
  take(): KeyAction | undefined {
    const pressed = this.#pressed;
    this.#pressed = undefined;
    return pressed;
  }
}
