import { demand, isGranted } from "../host/deno_permissions.ts";
import { StepError } from "../source/errors.ts";
import type { Clock } from "../host/host.ts";
import type { ActionContext } from "./action.ts";
import { endMarked } from "./process/process_group.ts";
import { MARK } from "./process/process_table.ts";
import { startWatchdog, type Watchdog } from "./watchdog.ts";

/**
 * The processes and temporary files of a run that outlive their step: they go when the run ends,
 * and a watchdog removes them if the program dies before that.
 */
export class RunResources {
  readonly #deferred: (() => Promise<void>)[] = [];
  readonly #clock: Clock;
  readonly #inherited: string;
  /** In the environment of every process that the run starts. */
  readonly #mark = crypto.randomUUID();
  #marks = 0;
  #watchdog: Watchdog | undefined;
  #directory: Promise<string> | undefined;
  #files = 0;

  /** `inherited` is the mark of this process, where another run has started it. */
  constructor(clock: Clock, inherited = "") {
    this.#clock = clock;
    this.#inherited = inherited;
  }

  /** A mark for a command and what it starts, found by those of this run and by its own. */
  newMark(): string {
    return `${this.#inherited}${this.#mark}.${++this.#marks};`;
  }

  /** Has a group of processes ended if the program crashes. */
  watch(group: number): void {
    // Started after the first command, which need not wait for it.
    this.#startWatchdog().started(group);
  }

  /** Nothing is left of a group. */
  release(group: number): void {
    this.#watchdog?.ended(group);
  }

  /** Has `end` called when the run ends, together with the others and before the files go. */
  defer(end: () => Promise<void>): void {
    this.#deferred.push(end);
  }

  /** A path for a file that goes when the run ends; nothing is there yet. */
  async newFile(extension: string): Promise<string> {
    return `${await (this.#directory ??= this.#newDirectory())}/${++this.#files}${extension}`;
  }

  /** Ends the processes and removes the files. */
  async end(): Promise<void> {
    await Promise.all(this.#deferred.map((end) => end()));
    if (this.#marks > 0) await endMarked(this.#mark, this.#clock);
    if (this.#directory) {
      // Changes that a command made to the directory do not fail the run.
      await this.#directory.then((path) => Deno.remove(path, { recursive: true })).catch(() => {});
    }
    await this.#watchdog?.dismiss();
  }

  #startWatchdog(): Watchdog {
    return this.#watchdog ??= startWatchdog(this.#mark);
  }

  async #newDirectory(): Promise<string> {
    const watchdog = this.#startWatchdog();
    demand({ name: "write", path: temporaryDirectory() });
    const directory = await Deno.makeTempDir({ prefix: "runner-" }).catch((error) => {
      throw temporaryProblem(error);
    });
    // Before anything is put there: the program may crash with the next file.
    await watchdog.made(directory);
    return directory;
  }
}

/** Why no temporary directory could be made; what Deno denies is explained elsewhere. */
function temporaryProblem(error: unknown): unknown {
  if (!(error instanceof Error) || error instanceof Deno.errors.NotCapable) return error;
  const reason = error instanceof Deno.errors.NotFound
    ? "it does not exist"
    : error.message.replace(/: .*/s, "");
  const name = Deno.build.os === "windows" ? "TMP" : "TMPDIR";
  return new StepError(
    `cannot create a temporary directory in "${temporaryDirectory()}": ${reason}`,
    `${name} names the directory for temporary files`,
  );
}

/** Where Deno makes temporary files. */
function temporaryDirectory(): string {
  const name = Deno.build.os === "windows" ? "TMP" : "TMPDIR";
  return isGranted({ name: "env" }) && Deno.env.get(name) || "/tmp";
}

/** The processes and files of the run that the attempt belongs to. */
export function runResources({ host, scope }: ActionContext): RunResources {
  return scope.run.resource(
    "processes and files",
    () => new RunResources(host.clock, host.env.get(MARK)),
    (resources) => resources.end(),
  );
}
