import { countOf } from "../../base/text/count_of.ts";
import { resolve } from "@std/path/resolve";
import type { Host, SignalName } from "../../host/host.ts";
import { LoadError, RunnerError } from "../../base/errors.ts";
import { printableLine } from "../../base/text/printable.ts";
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

/**
 * Runs workflows, and again whatever is affected when a file changes that they have read, until a
 * signal ends it. What cannot be loaded is reported, and watched further.
 */
export async function watchCommand(
  invocation: Invocation,
  program: Program,
  runOnce: (invocation: Invocation, program: Program) => Promise<ExitCode>,
): Promise<ExitCode> {
  const { host } = program;
  const initialSecrets = [...program.secrets];
  const signals = hearSignals(host);
  const once = { ...invocation, switches: without(invocation.switches, "watch") };
  let known: WatchedFiles | undefined;
  let changes: readonly string[] = [];
  let code: ExitCode = 0;
  while (signals.heard === undefined) {
    const files = new WatchedFiles({ ...host, signals: signals.ofRuns });
    const secrets = [...initialSecrets];
    const select = (members: readonly SuiteMember[]) => {
      if (!known) return members;
      const chosen = known.select(changes, members);
      if (chosen.length === 0) throw new NothingAffected();
      files.inherit(known, members.filter((member) => !chosen.includes(member)));
      return chosen;
    };
    begin(changes, host);
    try {
      code = await runOnce(once, {
        ...program,
        host: files.host(),
        secrets,
        watching: { files, select },
      });
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
    if (!known || signals.heard !== undefined) continue;
    await known.settle();
    await Promise.all([host.stdout.flush(), host.stderr.flush()]);
    changes = await nextChanges(known, host, signals);
  }
  signals.stop();
  return code;
}

/** Says what changed, on a terminal that is cleared for what follows. */
function begin(changes: readonly string[], { stdout, stderr, files }: Host): void {
  if (stdout.isTerminal) stdout.write(CLEAR);
  if (changes.length === 0) return;
  const directory = `${files.workingDirectory()}/`;
  const names = changes.map((path) =>
    path.startsWith(directory) ? path.slice(directory.length) : path
  );
  stderr.write(`changed: ${printableLine(names.join(", "))}\n`);
}

/** Waits until files have changed; gives none once a signal was heard. */
async function nextChanges(
  known: WatchedFiles,
  { files, clock, stderr }: Host,
  signals: HeardSignals,
): Promise<readonly string[]> {
  const pending = new Set<string>();
  let wake = () => {};
  const stop = await files.watch(known.directories(), (path) => {
    const at = resolve(files.workingDirectory(), path);
    if (!known.concerns(at)) return;
    pending.add(at);
    wake();
  });
  const stopSignals = signals.onHeard(() => wake());
  stderr.write(`watching ${countOf(known.size, "file")}, Ctrl-C ends\n`);
  try {
    // Files that changed during the run changed before they were watched.
    for (const path of await known.changed()) pending.add(path);
    let changes: readonly string[] = [];
    while (changes.length === 0 && signals.heard === undefined) {
      if (pending.size === 0) await new Promise<void>((resolve) => wake = resolve);
      for (let size = -1; size !== pending.size && signals.heard === undefined;) {
        size = pending.size;
        await new Promise<void>((resolve) => clock.after(QUIET, resolve));
      }
      const paths = [...pending];
      pending.clear();
      changes = await known.changed(paths);
    }
    // A terminal has written ^C into the line.
    if (signals.heard !== undefined && stderr.isTerminal) stderr.write("\n");
    return changes;
  } finally {
    stopSignals();
    stop();
  }
}

interface HeardSignals {
  /** The first signal, once there was one. */
  readonly heard: SignalName | undefined;
  /** The signals as runs hear them: also one that came before a run listens. */
  readonly ofRuns: Host["signals"];
  /** Calls `act` at a signal, until what it returns is called. */
  readonly onHeard: (act: () => void) => () => void;
  readonly stop: () => void;
}

/** Handles signals all the time, because nothing else does while files are loaded. */
function hearSignals({ signals }: Host): HeardSignals {
  let heard: SignalName | undefined;
  const listeners = new Set<(signal: SignalName) => void>();
  const stop = signals.listen((signal) => {
    heard ??= signal;
    for (const hear of listeners) hear(signal);
  });
  const add = (hear: (signal: SignalName) => void) => {
    listeners.add(hear);
    if (heard) hear(heard);
    return () => void listeners.delete(hear);
  };
  return {
    get heard() {
      return heard;
    },
    ofRuns: {
      listen(hear, timeout) {
        const forget = add(hear);
        const end = signals.listen(() => {}, timeout);
        return () => {
          forget();
          end();
        };
      },
    },
    onHeard: (act) => add(act),
    stop,
  };
}

function without(switches: ReadonlySet<string>, name: string): ReadonlySet<string> {
  return new Set([...switches].filter((one) => one !== name));
}
