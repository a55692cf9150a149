import { demand, isGranted } from "../host/deno_permissions.ts";
import type { Deadlines } from "../host/deadlines.ts";
import { StepError } from "../base/errors.ts";
import type { ActionScopes, ResourceScope } from "./action.ts";
import { signalSession } from "./process/process_group.ts";

/**
 * The processes and temporary files of a run that outlive their step: they go when the run ends,
 * or when the program exits before that.
 */
export class RunResources {
  readonly #background: Promise<string | undefined>[] = [];
  readonly #deferred: (() => Promise<void>)[] = [];
  readonly #groups = new Set<number>();
  #directory: Promise<string> | undefined;
  #madeDirectory: string | undefined;
  #files = 0;

  constructor() {
    addEventListener("unload", this.#endNow);
  }

  /** Has a group of processes ended if the program exits in the middle of the run. */
  watch(group: number): void {
    this.#groups.add(group);
  }

  /** Nothing is left of a group. */
  release(group: number): void {
    this.#groups.delete(group);
  }

  /** Has `end` called when the run ends, together with the others and before the files go. */
  defer(end: () => Promise<void>): void {
    this.#deferred.push(end);
  }

  /** Registers how a command in the background fails; undefined if it does not. */
  addBackground(failure: Promise<string | undefined>): void {
    this.#background.push(failure);
  }

  /**
   * How a command in the background failed, which may explain why a server does not answer; waits
   * at most these milliseconds for one that is about to.
   */
  async backgroundFailure(
    patience: number,
    deadlines: Pick<Deadlines, "add">,
  ): Promise<string | undefined> {
    if (this.#background.length === 0) return undefined;
    const late = Promise.withResolvers<undefined>();
    const deadline = deadlines.add(patience, () => late.resolve(undefined));
    const failed = this.#background.map(async (failure) => await failure ?? Promise.reject());
    const first = Promise.any(failed).catch(() => undefined);
    const found = await Promise.race([first, late.promise]);
    deadline.cancel();
    return found;
  }

  /** A path for a file that goes when the run ends; nothing is there yet. */
  async newFile(extension: string): Promise<string> {
    return `${await (this.#directory ??= this.#newDirectory())}/${++this.#files}${extension}`;
  }

  /** Ends the processes and removes the files. */
  async end(): Promise<void> {
    await Promise.all(this.#deferred.map((end) => end()));
    if (this.#directory) {
      // Changes that a command made to the directory do not fail the run.
      await this.#directory.then((path) => Deno.remove(path, { recursive: true })).catch(() => {});
    }
    removeEventListener("unload", this.#endNow);
  }

  readonly #endNow = () => {
    for (const group of this.#groups) signalSession(group, "SIGKILL");
    if (this.#madeDirectory !== undefined) removeNow(this.#madeDirectory);
  };

  async #newDirectory(): Promise<string> {
    demand({ name: "write", path: temporaryDirectory() });
    const directory = await Deno.makeTempDir({ prefix: "runner-" }).catch((error) => {
      throw temporaryProblem(error);
    });
    return this.#madeDirectory = directory;
  }
}

function removeNow(directory: string): void {
  try {
    Deno.removeSync(directory, { recursive: true });
  } catch {
    // A command has changed it meanwhile.
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

/** How background commands of a job that had been ready ended by themselves. */
export function endsInBackground(job: ResourceScope): string[] {
  return job.resource("ends of commands in the background", () => []);
}

/** What fails a run although the steps that found it had passed. */
export function faultsOf(run: ResourceScope): string[] {
  return run.resource("faults of a run", () => []);
}

/** The processes and files of a run. */
export function runResources(
  { scope }: { readonly scope: Pick<ActionScopes, "run"> },
): RunResources {
  return scope.run.resource(
    "processes and files",
    () => new RunResources(),
    (resources) => resources.end(),
  );
}
