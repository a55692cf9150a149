import { demand, isGranted } from "../host/deno_permissions.ts";
import type { ActionContext } from "./action.ts";
import { type Guard, startGuard } from "./watchdog.ts";

/**
 * The processes and files of a run that outlive their step: they go when the run ends, and a
 * guard sees to it should the program not get that far.
 */
export class Leftovers {
  readonly #left: (() => Promise<void>)[] = [];
  #guard: Guard | undefined;
  #folder: Promise<string> | undefined;
  #files = 0;

  /** Has a group of processes ended should the program crash. */
  watch(group: number): void {
    // Started after the first command, which need not wait for it.
    this.#guard ??= startGuard();
    this.#guard.started(group);
  }

  /** Nothing is left of a group. */
  release(group: number): void {
    this.#guard?.ended(group);
  }

  /** Has something ended when the run ends, before the files go. */
  leave(end: () => Promise<void>): void {
    this.#left.push(end);
  }

  /** A path for a file that goes when the run ends; nothing is there yet. */
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
    demand({ name: "write", path: temporaryFolder() });
    const folder = await Deno.makeTempDir({ prefix: "runner-" });
    // Before anything is put there: the program may crash with the next file.
    await this.#guard.made(folder);
    return folder;
  }
}

/** Where Deno makes temporary files. */
function temporaryFolder(): string {
  const name = Deno.build.os === "windows" ? "TMP" : "TMPDIR";
  return isGranted({ name: "env" }) && Deno.env.get(name) || "/tmp";
}

const runs = new WeakMap<object, Leftovers>();

/** What is left over of the run that the step belongs to. */
export function leftoversOf({ run, onRunEnd }: ActionContext): Leftovers {
  const known = runs.get(run);
  if (known) return known;
  const leftovers = new Leftovers();
  runs.set(run, leftovers);
  onRunEnd(() => leftovers.end());
  return leftovers;
}
