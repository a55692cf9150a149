import { join } from "@std/path/join";
import { resolve } from "@std/path/resolve";
import type { Host } from "../../host/host.ts";
import type { SuiteMember } from "../../suite/suite.ts";

/** Who reads a file: a workflow, by its path, all of them, or the search for workflows. */
type Reader = { readonly workflow: string } | "all" | "search";

interface KnownFile {
  readonly workflows: Set<string>;
  isOfAll: boolean;
  /** A run that writes what it has read must not run again for that. */
  isReadInRun: boolean;
  /** The hash of its content when it was read; undefined if unknown, or if it could not be read. */
  hash?: string | undefined;
}

/** The files that a run reads, and which of its workflows reads which. */
export class WatchedFiles {
  readonly #host: Host;
  readonly #files = new Map<string, KnownFile>();
  /** Directories in which the run has looked for workflows. */
  readonly #searched = new Set<string>();
  /** By their paths, as the suite names them. */
  readonly #workflows = new Set<string>();

  constructor(host: Host) {
    this.#host = host;
  }

  /** A host whose reads count for all workflows. */
  host(): Host {
    return this.#recording("all");
  }

  /** A host whose reads count as a search for workflows. */
  hostOfSearch(): Host {
    return this.#recording("search");
  }

  /** A host whose reads count for one workflow, before or during its run. */
  hostOf(workflow: string, isRunning = false): Host {
    for (const path of workflow.split(",")) this.#workflows.add(this.#at(path));
    return this.#recording({ workflow }, isRunning);
  }

  /** The number of the files. */
  get size(): number {
    return this.#files.size;
  }

  /** The directories that they are in, and those that were searched. */
  directories(): readonly string[] {
    const around = [...this.#files.keys()].map((path) => join(path, ".."));
    return [...new Set([...around, ...this.#searched])];
  }

  /** Whether a change of a path matters: of a known file, or of a possible workflow. */
  concerns(path: string): boolean {
    if (this.#files.has(path)) return true;
    return /\.ya?ml$/i.test(path) && this.#searched.has(join(path, ".."));
  }

  /** Takes what files hold now as known where a run itself may have changed them. */
  async settle(): Promise<void> {
    for (const [path, file] of this.#files) {
      if (file.isReadInRun) file.hash = await this.#hashOf(path);
    }
  }

  /** Takes what some files hold now as known. */
  async accept(paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      const file = this.#files.get(path);
      if (file) file.hash = await this.#hashOf(path);
    }
  }

  /** Adds the files that an earlier run read in workflows that do not run again. */
  inherit(earlier: WatchedFiles, members: readonly SuiteMember[]): void {
    const workflows = new Set(members.map(({ path }) => path));
    for (const [path, file] of earlier.#files) {
      const kept = [...file.workflows].filter((workflow) => workflows.has(workflow));
      if (!file.isReadInRun || kept.length === 0) continue;
      const known = this.#files.get(path);
      if (known) kept.forEach((workflow) => known.workflows.add(workflow));
      else this.#files.set(path, { ...file, workflows: new Set(kept) });
    }
  }

  /** The paths whose content has changed; by default of all known files. */
  async changed(paths: Iterable<string> = this.#files.keys()): Promise<readonly string[]> {
    const found: string[] = [];
    for (const path of paths) {
      const hash = await this.#hashOf(path);
      if (hash !== this.#files.get(path)?.hash) found.push(path);
    }
    return found;
  }

  /** The current workflows that changes affect, including new ones. */
  select(changes: readonly string[], members: readonly SuiteMember[]): readonly SuiteMember[] {
    const known = new Set(this.#workflows);
    const affected = new Set<string>();
    for (const path of changes) {
      const file = this.#files.get(path);
      const readers = this.#workflows.has(path) ? undefined : file;
      if (readers?.isOfAll && readers.workflows.size === 0) return members;
      for (const workflow of file?.workflows ?? []) affected.add(workflow);
      affected.add(path);
    }
    const isAffected = (path: string) =>
      affected.has(path) ||
      path.split(",").map((one) => this.#at(one)).some((one) =>
        affected.has(one) || !known.has(one)
      );
    return members.filter(({ path }) => isAffected(path));
  }

  #at(path: string): string {
    return resolve(this.#host.files.workingDirectory(), path);
  }

  #recording(reader: Reader, isRunning = false): Host {
    const { files } = this.#host;
    const note = (path: string) => this.#note(this.#at(path), reader, isRunning);
    return {
      ...this.#host,
      files: {
        ...files,
        read: async (path) => {
          if (typeof path !== "string") return await files.read(path);
          const file = note(path);
          file.hash = undefined;
          const bytes = await files.read(path);
          file.hash = await hash(bytes);
          return bytes;
        },
        stream: async (path) => {
          note(path).isReadInRun = true;
          return await files.stream(path);
        },
        entries: async (path) => {
          if (reader === "search") this.#searched.add(this.#at(path));
          return await files.entries(path);
        },
      },
    };
  }

  #note(path: string, reader: Reader, isRunning: boolean): KnownFile {
    let file = this.#files.get(path);
    if (!file) {
      this.#files.set(path, file = { workflows: new Set(), isOfAll: false, isReadInRun: false });
    }
    if (typeof reader === "object") file.workflows.add(reader.workflow);
    else if (reader === "all") file.isOfAll = true;
    if (isRunning) file.isReadInRun = true;
    return file;
  }

  async #hashOf(path: string): Promise<string | undefined> {
    try {
      return await hash(await this.#host.files.read(path));
    } catch {
      return undefined;
    }
  }
}

async function hash(bytes: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", bytes as Uint8Array<ArrayBuffer>);
  return new Uint8Array(digest).toString();
}
