import type { ActionContext } from "../action.ts";
import { type Guard, startGuard } from "./guard.ts";
import type { ProcessGroup } from "./process_group.ts";

/**
 * What the commands of a run have in common: the processes and files that outlive their step,
 * which end with the run, and the guard that ends them should the program not get that far.
 */
export class RunProcesses {
  readonly #left: (() => Promise<void>)[] = [];
  #guard: Guard | undefined;
  #folder: Promise<string> | undefined;
  #files = 0;

  /** Has a group ended should the program crash. */
  guard(group: ProcessGroup): void {
    // Started after the first command, which need not wait for it.
    this.#guard ??= startGuard();
    this.#guard.started(group.pid);
  }

  /** Nothing is left of a group. */
  release(group: ProcessGroup): void {
    this.#guard?.ended(group.pid);
  }

  /** Leaves a group running until the run ends; `after` is called once it has ended. */
  leave(group: ProcessGroup, after: () => Promise<void>): void {
    this.#left.push(async () => {
      await group.end();
      this.release(group);
      await after();
    });
  }

  /** A path for a file that goes when the run ends. */
  async newFile(extension: string): Promise<string> {
    return `${await (this.#folder ??= this.#newFolder())}/${++this.#files}${extension}`;
  }

  /** Ends what is left. */
  async end(): Promise<void> {
    await Promise.all(this.#left.map((end) => end()));
    if (this.#folder) {
      // What a command did to the folder is no reason to fail the run.
      await this.#folder.then((path) => Deno.remove(path, { recursive: true })).catch(() => {});
    }
    await this.#guard?.dismiss();
  }

  async #newFolder(): Promise<string> {
    this.#guard ??= startGuard();
    const folder = await Deno.makeTempDir({ prefix: "runner-" });
    this.#guard.made(folder);
    return folder;
  }
}

const runs = new WeakMap<object, RunProcesses>();

/** The processes of the run that the step belongs to. */
export function processesOf(context: ActionContext): RunProcesses {
  const known = runs.get(context.run);
  if (known) return known;
  const processes = new RunProcesses();
  runs.set(context.run, processes);
  context.onRunEnd(() => processes.end());
  return processes;
}
