import { RunnerError } from "../base/errors.ts";
import { type Dict, isDict } from "../base/value/value.ts";
import type { FileLock, Host } from "../host/host.ts";
import type { PreviousRun, RunEnd, RunMemory } from "../run/run_state.ts";
import { boundValue } from "../secrets/bound_value.ts";
import type { Masker } from "../secrets/masker.ts";
import { MASK } from "../secrets/masker.ts";
import { withoutSecretNames } from "../secrets/secrets.ts";
import { cannotWrite, explained, readKept, renderKept } from "../report/files/kept_file.ts";

/** The version of the form of the file. */
const SCHEMA = "runner-state/1";

/** Its owner alone reads it. */
const MODE = 0o600;

/** A run as the file has it. */
type KeptRun = PreviousRun & Pick<RunEnd, "failures">;

/** What runs remember: of each workflow and suite its last run. */
export class State {
  readonly #host: Host;
  readonly #path: string | undefined;
  readonly #lock: FileLock | undefined;
  #runs: ReadonlyMap<string, KeptRun>;
  /** The runs that ended since it was saved. */
  #ended = new Map<string, KeptRun>();

  /** Without a file, it lives as long as the process. */
  constructor(host: Host, path?: string, lock?: FileLock, runs = new Map<string, KeptRun>()) {
    this.#host = host;
    this.#path = path;
    this.#lock = lock;
    this.#runs = runs;
  }

  /** Reads a file, if there is one, and keeps other processes from it. Throws RunnerError. */
  static async open(path: string, host: Host): Promise<State> {
    const { files } = host;
    const refuse = (error: unknown) => {
      throw cannotWrite(path, error, "state");
    };
    const lock = await files.lock(`${path}.lock`).catch(refuse);
    if ("holder" in lock) {
      const holder = lock.holder === "" ? "another process" : `process ${lock.holder}`;
      throw new RunnerError(
        `the state '${path}' is in use by ${holder}`,
        "run one after the other, or give each a file of its own",
      );
    }
    try {
      const runs = await readRuns(path, host);
      // What cannot be written is known before anything runs.
      (await files.stage(path, MODE).catch(refuse)).discard();
      return new State(host, path, lock, runs);
    } catch (error) {
      lock.release();
      throw error;
    }
  }

  /** The memory of a workflow or a suite. */
  of(subject: string): RunMemory {
    const kept = this.#runs.get(subject);
    const { failures: _, ...previous } = kept ?? { failures: [] };
    return {
      previous: kept && previous as PreviousRun,
      keep: (end) => {
        const isSame = kept?.state === end.state;
        this.#ended.set(subject, {
          state: end.state,
          streak: isSame ? kept.streak + 1 : 1,
          since: isSame ? kept.since : new Date(end.started).toISOString(),
          duration: end.duration / 1000,
          failures: end.failures,
          outputs: withoutSecrets(end),
        });
      },
    };
  }

  /** Keeps the runs that have ended. The file has all of them, or none where this throws RunnerError. */
  async save(): Promise<void> {
    const runs = this.#runs = new Map([...this.#runs, ...this.#ended]);
    this.forget();
    const path = this.#path;
    if (path !== undefined) {
      const staged = await this.#host.files.stage(path, MODE).catch((error) => {
        throw cannotWrite(path, error, "state");
      });
      const file = explained(staged, path, "state");
      try {
        file.write(renderKept({ schema: SCHEMA, runs: Object.fromEntries(runs) }));
        file.commit();
      } finally {
        file.discard();
      }
    }
  }

  /** Forgets the runs that have ended since it was saved. */
  forget(): void {
    this.#ended = new Map();
  }

  close(): void {
    if (this.#lock && "release" in this.#lock) this.#lock.release();
  }
}

async function readRuns(path: string, { files }: Host): Promise<Map<string, KeptRun>> {
  try {
    const kept = await readKept(path, SCHEMA, files);
    const runs = isDict(kept?.runs) ? Object.entries(kept.runs) : undefined;
    if (runs?.every(([, run]) => isRun(run))) {
      return new Map(runs as unknown as [string, KeptRun][]);
    }
  } catch (error) {
    if (error instanceof Error && error.name === "NotFound") return new Map();
    const reason = error instanceof Error ? error.message.replace(/ \(os error.*/s, "") : error;
    throw new RunnerError(`cannot read the state '${path}': ${reason}`);
  }
  throw new RunnerError(
    `'${path}' is not a state file: it is damaged, or of another program`,
    "name another file, or remove this one to begin anew",
  );
}

const STATES: readonly unknown[] = ["passed", "failed", "interrupted"];

function isRun(run: unknown): boolean {
  return isDict(run) && STATES.includes(run.state) && Number.isInteger(run.streak) &&
    typeof run.since === "string" && typeof run.duration === "number" &&
    Array.isArray(run.failures) && isDict(run.outputs) && Object.values(run.outputs).every(isDict);
}

/** The outputs that neither have the name of a secret nor hold one. */
function withoutSecrets({ outputs, secrets }: RunEnd): Record<string, Dict> {
  return Object.fromEntries(
    Object.entries(outputs).map(([step, values]) => {
      const named = withoutSecretNames(values, MASK);
      const safe = Object.entries(named).filter(([name, value]) => isSafe([name, value], secrets));
      return [step, Object.fromEntries(safe)];
    }),
  );
}

function isSafe(value: readonly unknown[], secrets: Masker): boolean {
  const text = JSON.stringify(value);
  return !text.includes(MASK) &&
    JSON.stringify(boundValue(value, Infinity, secrets)) === text;
}
