import type { StagedFile } from "./staged_file.ts";

/** The parts of the machine that the program uses. Actions about the machine use `Deno` itself. */
export interface Host {
  readonly clock: Clock;
  readonly env: Environment;
  readonly files: Files;
  readonly signals: Signals;
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
}

export interface Clock {
  /** Milliseconds since 1970. */
  now(): number;
  /** Milliseconds that only ever grow, with fractions. */
  ticks(): number;
  /** Calls `callback` once after that many milliseconds; the result takes it back. */
  after(milliseconds: number, callback: () => void): () => void;
  /**
   * Calls `callback` in the next turn of the event loop, far earlier than the shortest timer; absent
   * where the turns would take the only processor from others.
   */
  readonly turn?: ((callback: () => void) => void) | undefined;
}

export interface Environment {
  get(name: string): string | undefined;
  /** Every variable by name. */
  all(): Readonly<Record<string, string>>;
  /** Takes a variable away, also from the commands that are started from now on. */
  remove(name: string): void;
}

export interface Files {
  /** The bytes of a file; `NotFound`, `PermissionDenied` and the like as Deno throws them. */
  read(path: string | URL): Promise<Uint8Array>;
  /** The bytes of a file as they are read; what leaves the stream early closes the file. */
  stream(path: string): Promise<ReadableStream<Uint8Array<ArrayBuffer>>>;
  /** Files directly in a directory, by name; undefined if the path is not a directory. */
  list(path: string): Promise<readonly string[] | undefined>;
  /** The entries of a directory, by name; undefined if it cannot be read, none if it is not one. */
  entries(directory: string): Promise<readonly DirectoryEntry[] | undefined>;
  /** Whether a path leads to a file, which has content: not to a pipe, a device or a directory. */
  isFile(path: string): Promise<boolean>;
  /** The absolute path that a path leads to, without links, also if nothing exists there. */
  realPath(path: string): Promise<string>;
  /** Notes files that may be read later: they are inputs already. */
  planReading(paths: readonly string[]): void;
  /**
   * Whether a path leads to a file that was read, or may be later, as snapshots are: writing it
   * would lose it.
   */
  isInput(path: string): boolean;
  /** Whether a path leads to a file that was read, and that no run has written. */
  wasRead(path: string): boolean;
  /** Notes a file that a run has written, and may write again. */
  addWritten(path: string): void;
  /**
   * Opens a file to be written, whole or not at all, with these permissions if they are given.
   * Brings its code, which few runs need.
   */
  stage(path: string, mode?: number): Promise<StagedFile>;
  /** Makes a file that only one process has at a time, or says which one has it. */
  lock(path: string): Promise<FileLock>;
  /** Removes a file; a missing file is not an error. */
  remove(path: string): Promise<void>;
  /** Opens a file that others read while it is written. */
  grow(path: string): Promise<StagedFile>;
  /** The same, and keeps what the file holds already. */
  append(path: string): Promise<StagedFile>;
  /**
   * Calls `onChange` with the path of each direct change in these directories, until the
   * result is called.
   */
  watch(directories: readonly string[], onChange: (path: string) => void): Promise<() => void>;
  /** The directory to which relative paths are relative. */
  workingDirectory(): string;
}

/** A file that this process has until it is released, or the number of the process that has it. */
export type FileLock = { readonly release: () => void } | { readonly holder: string };

/**
 * An entry of a directory; `link` leads to a directory, and so perhaps in a cycle, and `unreadable`
 * is a link that leads nowhere.
 */
export interface DirectoryEntry {
  readonly name: string;
  readonly kind: "file" | "directory" | "link" | "unreadable";
}

/** A wish from outside that the program end. */
export type SignalName = "SIGINT" | "SIGTERM" | "SIGHUP" | "SIGBREAK";

export interface Signals {
  /**
   * Calls `listener` at each such signal, which then no longer ends the program by itself. A program
   * that is too busy to hear one, or the end of its timeout, is ended all the same.
   */
  listen(
    listener: (signal: SignalName) => void,
    timeout?: { readonly milliseconds: number; readonly reason: string },
    /** Takes a function that is called where the program begins something that may take long. */
    onLongWork?: (begins: () => void) => void,
  ): () => void;
}

/** Standard input, as far as somebody sits before it. */
export interface Input {
  readonly isTerminal: boolean;
  /**
   * Asks for a line. undefined if `signal` ends the wait, or there is no further line: somebody
   * has pressed Ctrl-C or Ctrl-D.
   */
  ask(question: string, signal: AbortSignal): Promise<string | undefined>;
  /** Calls `onKey` with each key, which the terminal does not show, until the result is called. */
  readKeys(onKey: (key: string) => void): Promise<() => void>;
}

export interface Output {
  readonly isTerminal: boolean;
  /** Columns of the terminal now; 80 without one. */
  columns(): number;
  /** Rows of the terminal now; 24 without one. */
  rows(): number;
  /** Takes all of a text, which is written soon; false once nothing more can be written. */
  write(text: string): boolean;
  /**
   * Calls `callback` when nothing more can be written, also when that is found out after `write` has
   * returned: with an OutputError, or without one if the reader has gone away.
   */
  onClosed(callback: (problem?: Error) => void): void;
  /** Resolves when everything was written; false if the reader has gone away. Throws OutputError. */
  flush(): Promise<boolean>;
}
