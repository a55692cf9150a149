import { LoadError, RunnerError, UsageError } from "../../base/errors.ts";
import { countOf } from "../../base/text/count_of.ts";
import { printableLine } from "../../base/text/printable.ts";
import {
  durationProblem,
  formatDuration,
  formatElapsed,
  parseDuration,
} from "../../base/value/duration.ts";
import type { Host, Output, SignalName } from "../../host/host.ts";
import type { JobState, RunEvent } from "../../run/event.ts";
import { State } from "../../suite/state.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { explainError } from "../messages.ts";

/** The shortest interval, in milliseconds. */
const SHORTEST = 10;

/** The part of the interval by which a run may start later, so that many monitors do not beat together. */
const JITTER = 0.1;

/** Milliseconds within which one signal may come twice. */
const FORWARDED = 200;

type MonitorServer = Awaited<ReturnType<typeof import("./monitor_server.ts").openMonitorServer>>;

/** A run that was loaded: it may run again. */
type RunLoaded = (program: Program) => Promise<ExitCode>;

/**
 * Runs workflows again and again, a time after the start of the last run, until a signal ends it.
 * Prints a line for each run, and the whole report where it failed or a job ended unlike before. The
 * files are read before each run; while one is invalid, the last good version runs.
 */
export async function everyCommand(
  invocation: Invocation,
  program: Program,
  load: (invocation: Invocation, program: Program) => Promise<RunLoaded>,
): Promise<ExitCode> {
  const { host } = program;
  const { clock, stdout } = host;
  const { values } = invocation;
  const interval = readInterval(values.get("every")!);
  const path = values.get("state");
  const state = path === undefined ? new State(host) : await State.open(path, host);
  let server: MonitorServer | undefined;
  const signals = new EverySignals(host);
  const secrets = [...program.secrets];
  let good: RunLoaded | undefined;
  /** Why the file is invalid, as it was printed last. */
  let complaint = "";
  let before: ReadonlyMap<string, JobState> = new Map();
  stdout.onClosed(() => signals.end());
  try {
    if (values.has("serve")) {
      const { openMonitorServer } = await import("./monitor_server.ts");
      server = await openMonitorServer(values, interval, interval * (2 + JITTER), program);
    }
    for (let isLate = false; !signals.isEnding;) {
      const started = clock.ticks();
      const output = new KeptOutput(host);
      const run = new EveryRun();
      const recorder = server?.begin();
      const runProgram: Program = {
        ...program,
        host: { ...host, stdout: output, stderr: output, signals: signals.ofRuns },
        secrets: [...secrets],
        repeating: {
          state,
          take(event) {
            run.take(event);
            recorder?.take(event);
          },
          isDetailed: recorder !== undefined,
        },
      };
      let isNews = false;
      const notes: string[] = isLate
        ? [`late: the run before took longer than ${formatDuration(interval)}`]
        : [];
      const time = clock.now();
      let code: ExitCode = 1;
      try {
        const loaded = await load(invocation, runProgram).catch((error) => {
          if (!good || !(error instanceof LoadError)) throw error;
          const text = explainError(error, runProgram.host, runProgram.secrets);
          isNews = text !== complaint;
          if (isNews) output.write(complaint = text);
          notes.push("the file is invalid: its last good version ran");
          return good;
        });
        code = await loaded(runProgram);
        good = loaded;
      } catch (error) {
        // A mistake in the command line or in the first version of a file does not go away.
        if (!good || !(error instanceof RunnerError)) throw error;
        output.write(explainError(error, runProgram.host, runProgram.secrets));
      }
      if (recorder) server?.end(recorder, code === 0, state);
      const changes = run.changesSince(before);
      if (code !== 0 || changes.length > 0 || isNews) stdout.write(output.text);
      before = run.states;
      const line = [
        new Date(time).toISOString().replace(/\.\d+/, ""),
        code === 0 ? "passed" : "failed",
        countOf(run.states.size, "job"),
        formatElapsed(clock.ticks() - started),
        [...changes, ...notes].join(", "),
      ];
      stdout.write(`${line.join("  ").trimEnd()}\n`);
      if (!await stdout.flush()) break;
      const pause = started + interval * (1 + Math.random() * JITTER) - clock.ticks();
      isLate = pause < 0;
      await signals.sleep(pause);
    }
  } finally {
    signals.stop();
    state.close();
    await server?.close();
  }
  return 0;
}

function readInterval(text: string): number {
  const interval = parseDuration(text);
  if (interval === undefined) throw new UsageError(`option --every ${durationProblem(text)}`);
  if (interval >= SHORTEST) return interval;
  throw new UsageError(`option --every must be at least ${SHORTEST}ms, not "${text}"`);
}

/** What a run has said of its jobs. */
class EveryRun {
  /** By the file and the name of the job. */
  readonly states = new Map<string, JobState>();
  readonly #files = new Map<string, string>();

  take(event: RunEvent): void {
    if (event.type === "run_started") this.#files.set(event.runId, event.file);
    if (event.type !== "job_finished") return;
    const { runId, name, state } = event;
    this.states.set(JSON.stringify([this.#files.get(runId), name]), state);
  }

  /** The jobs that ended unlike before, in words. */
  changesSince(before: ReadonlyMap<string, JobState>): readonly string[] {
    return [...this.states].flatMap(([key, state]) => {
      const last = before.get(key);
      const [, name] = JSON.parse(key);
      return last === undefined || last === state
        ? []
        : [`${printableLine(name)}: ${last} → ${state}`];
    });
  }
}

/** The signals of a program that runs again and again. */
class EverySignals {
  readonly #host: Host;
  readonly #listeners = new Set<(signal: SignalName) => void>();
  readonly stop: () => void;
  /** The signal that interrupts the run under way. */
  #interrupt: SignalName | undefined;
  #last = -Infinity;
  #wake = () => {};
  /** Whether no further run begins. */
  isEnding = false;

  constructor(host: Host) {
    this.#host = host;
    this.stop = host.signals.listen((signal) => this.#take(signal));
  }

  /** The first SIGTERM lets the run under way end; any other signal interrupts it. */
  #take(signal: SignalName): void {
    const now = this.#host.clock.ticks();
    const isAgain = now - this.#last < FORWARDED;
    this.#last = now;
    if (signal === "SIGTERM" && (isAgain || !this.isEnding)) return this.end();
    this.#interrupt ??= signal;
    this.end();
    for (const listener of this.#listeners) listener(signal);
  }

  end(): void {
    this.isEnding = true;
    this.#wake();
  }

  /** The signals as a run hears them. */
  readonly ofRuns: Host["signals"] = {
    listen: (listener, ...rest) => {
      this.#listeners.add(listener);
      if (this.#interrupt) listener(this.#interrupt);
      const end = this.#host.signals.listen(() => {}, ...rest);
      return () => {
        this.#listeners.delete(listener);
        end();
      };
    },
  };

  /** Resolves after a time, or at a signal. */
  async sleep(milliseconds: number): Promise<void> {
    if (this.isEnding) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    const cancel = this.#host.clock.after(Math.max(0, milliseconds), resolve);
    await promise;
    cancel();
  }
}

/** Keeps what a run prints until it is known whether anybody wants to read it. */
export class KeptOutput implements Output {
  readonly isTerminal = false;
  readonly #host: Host;
  text = "";

  constructor(host: Host) {
    this.#host = host;
  }

  columns(): number {
    return this.#host.stdout.columns();
  }

  rows(): number {
    return this.#host.stdout.rows();
  }

  write(text: string): boolean {
    this.text += text;
    return true;
  }

  onClosed(): void {}

  flush(): Promise<boolean> {
    return Promise.resolve(true);
  }
}
