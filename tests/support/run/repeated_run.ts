import type { Clock, SignalName } from "../../../src/host/host.ts";
import type { CliResult } from "./run_cli.ts";
import { Collected, runHere } from "./run_main.ts";

/** A workflow that runs again and again, on a clock that passes the pauses between its runs. */
export class RepeatedRun {
  /** Milliseconds. */
  now = Date.UTC(2026, 0, 31);
  pauses: number[] = [];
  readonly stdout = new Collected();
  readonly stderr = new Collected();
  readonly #listeners = new Set<(signal: SignalName) => void>();
  readonly #onPause: (count: number, run: RepeatedRun) => unknown;

  /** The pause lasts until what `onPause` returns is settled. */
  constructor(onPause: (count: number, run: RepeatedRun) => unknown) {
    this.#onPause = onPause;
  }

  send(signal: SignalName): void {
    for (const listener of this.#listeners) listener(signal);
  }

  async run(cwd: string, ...args: string[]): Promise<CliResult> {
    const clock: Clock = {
      now: () => this.now,
      ticks: () => this.now,
      after: (milliseconds, act) => {
        // Other times are limits, which nothing reaches.
        const isPause = milliseconds === 0 || milliseconds > 50_000 && milliseconds < 70_000;
        if (!isPause) return () => {};
        this.pauses.push(milliseconds);
        this.now += milliseconds;
        void Promise.resolve(this.#onPause(this.pauses.length, this)).finally(act);
        return () => {};
      },
    };
    const signals = {
      listen: (listener: (signal: SignalName) => void) => {
        this.#listeners.add(listener);
        return () => void this.#listeners.delete(listener);
      },
    };
    const { stdout, stderr } = this;
    const line = ["--every", "1m", ...args, "w.yml"];
    const result = await runHere(line, { cwd }, { clock, signals, stdout, stderr });
    return { ...result, stdout: stdout.text, stderr: stderr.text };
  }

  /** What the program serves at a path. */
  async get(path: string, method = "GET") {
    const response = await fetch(new URL(path, this.address), { method });
    const { status, headers } = response;
    return { status, headers, body: await response.text() };
  }

  /** Where the program serves, as it has printed. */
  get address(): string {
    return /serving (\S+)/.exec(this.stderr.text)![1]!;
  }
}
