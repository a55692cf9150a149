import { demand } from "./deno_permissions.ts";
import { startStuckGuard } from "./stuck_guard.ts";
import type { Clock, Environment, Files, Host, SignalName, Signals } from "./host.ts";
import { outputTo } from "./output.ts";

/** The machine that the program runs on. */
export function denoHost(): Host {
  return {
    clock,
    env,
    files: makeFiles(),
    signals,
    stdin: {
      isTerminal: Deno.stdin.isTerminal(),
      ask: async (...args) => await (await import("./input.ts")).ask(...args),
      readKeys: async (onKey) => (await import("./input.ts")).readKeys(onKey),
    },
    stdout: outputTo(Deno.stdout),
    stderr: outputTo(Deno.stderr),
  };
}

/** A longer timer would go off at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

const clock: Clock = {
  now: () => Date.now(),
  ticks: () => performance.now(),
  after(milliseconds, callback) {
    let timer: ReturnType<typeof setTimeout>;
    const arm = (left: number) => {
      timer = left > LONGEST_TIMER
        ? setTimeout(() => arm(left - LONGEST_TIMER), LONGEST_TIMER)
        : setTimeout(callback, left);
    };
    arm(milliseconds);
    return () => clearTimeout(timer);
  },
  turn: navigator.hardwareConcurrency > 1 ? (callback) => void setImmediate(callback) : undefined,
};

const env: Environment = {
  // The system knows no such names; Deno would throw instead of saying so.
  get(name) {
    demand({ name: "env" });
    return name === "" || /[=\0]/.test(name) ? undefined : Deno.env.get(name);
  },
  all() {
    demand({ name: "env" });
    return Deno.env.toObject();
  },
  remove: (name) => Deno.env.delete(name),
};

/** From this size on, reading asks first whether a file is too large. */
const LARGE = 64 * 1024 * 1024;

/** The files, with a cache for those that a program reads. */
function makeFiles(): Files {
  const [read, written] = [new Set<unknown>(), new Set<unknown>()];
  const planned = new Set<string>();
  const wasRead = (file: unknown) => read.has(file) && !written.has(file);
  return {
    ...files,
    read(path) {
      read.add(identify(path));
      return files.read(path);
    },
    stream(path) {
      read.add(identify(path));
      return files.stream(path);
    },
    planReading: (paths) => paths.forEach((path) => planned.add(path)),
    isInput(path) {
      const file = identify(path);
      return wasRead(file) || [...planned].map(identify).includes(file) ||
        /(?:^|[\\/])__snapshots__[\\/]/.test(path);
    },
    wasRead: (path) => wasRead(identify(path)),
    addWritten: (path) => void written.add(identify(path)),
  };
}

/** Identifies a file under any path; unique each time for a terminal, a pipe or a device. */
function identify(path: string | URL): unknown {
  try {
    demand({ name: "read", path });
    const { isFile, dev, ino, birthtime } = Deno.statSync(path);
    return isFile ? `${dev} ${ino} ${birthtime?.getTime()}` : Symbol();
  } catch {
    return Symbol();
  }
}

const files: Omit<Files, "planReading" | "isInput" | "wasRead" | "addWritten"> = {
  async read(path) {
    demand({ name: "read", path });
    // Handing a small file to another thread takes longer than reading it here. Reading a pipe or a
    // device may block.
    const { isFile, isDirectory, size } = Deno.statSync(path);
    if (isDirectory || isFile && size < LARGE) return Deno.readFileSync(path);
    return await readStream(path);
  },
  async stream(path) {
    demand({ name: "read", path });
    return (await Deno.open(path)).readable;
  },
  async list(path) {
    demand({ name: "read", path });
    const names: string[] = [];
    try {
      for await (const entry of Deno.readDir(path)) {
        const isFile = () => Promise.try(leadsToFile, `${path}/${entry.name}`).catch(() => true);
        if (entry.isFile || entry.isSymlink && await isFile()) names.push(entry.name);
      }
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      if (error instanceof Deno.errors.NotADirectory) return undefined;
      throw error;
    }
    return names.sort();
  },
  entries: async (directory) => (await import("./directories.ts")).readEntries(directory),
  isFile: (path) => Promise.try(leadsToFile, path),
  realPath: async (path) => await (await import("./real_path.ts")).realPath(path),
  stage: async (path, mode) => (await import("./staged_file.ts")).stageFile(path, mode),
  lock: async (path) => (await import("./lock_file.ts")).lockFile(path),
  remove: async (path) => (await import("./staged_file.ts")).removeFile(path),
  grow: async (path) => (await import("./staged_file.ts")).openGrowingFile(path, "anew"),
  append: async (path) => (await import("./staged_file.ts")).openGrowingFile(path, "append"),
  watch: async (directories, onChange) =>
    (await import("./directories.ts")).watchDirectories(directories, onChange),
  workingDirectory: () => Deno.cwd(),
};

const SIGNALS: readonly SignalName[] = Deno.build.os === "windows"
  ? ["SIGINT", "SIGBREAK"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];

/** Milliseconds before the guard starts, whose worker costs a small run a third of its time. */
const GUARD_DELAY = 1000;

const signals: Signals = {
  listen(listener, timeout, onLongWork) {
    let isListening = true;
    let stopGuard: (() => void) | undefined;
    const deadline = timeout &&
      { deadline: Date.now() + timeout.milliseconds, reason: timeout.reason };
    const startGuard = () => {
      if (isListening) stopGuard ??= startStuckGuard({ signals: SIGNALS, ...deadline });
    };
    onLongWork?.(startGuard);
    // For the first setTimeout() Deno loads more than all of a small run takes.
    const delay = AbortSignal.timeout(GUARD_DELAY);
    delay.addEventListener("abort", startGuard);
    // No timer starts it where the first second is blocked.
    if (deadline) startGuard();
    const listeners = SIGNALS.map((signal) => [signal, () => listener(signal)] as const);
    for (const [signal, listener] of listeners) Deno.addSignalListener(signal, listener);
    return () => {
      isListening = false;
      delay.removeEventListener("abort", startGuard);
      stopGuard?.();
      for (const [signal, listener] of listeners) Deno.removeSignalListener(signal, listener);
    };
  },
};

function leadsToFile(path: string): boolean {
  demand({ name: "read", path });
  try {
    // Faster than to have another thread ask.
    return Deno.statSync(path).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    if (error instanceof Deno.errors.FilesystemLoop) return false;
    throw error;
  }
}

/** Nothing larger is read: it would not fit into memory as text. */
const MAX_MEGABYTES = 256;

/**
 * The bytes of a file that may not end or not fit into memory: a pipe, a device, a large file. Throws
 * an error if there are too many.
 */
async function readStream(path: string | URL): Promise<Uint8Array> {
  using file = await Deno.open(path);
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of file.readable.values({ preventCancel: true })) {
    size += chunk.length;
    if (size > MAX_MEGABYTES * 1024 * 1024) {
      throw new Error(`it is larger than ${MAX_MEGABYTES} MB`);
    }
    chunks.push(chunk);
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return bytes;
}
