import { demand } from "./deno_permissions.ts";
import type { Clock, Environment, Files, Host, Output, SignalName, Signals } from "./host.ts";

/** The machine that the program runs on. */
export function denoHost(): Host {
  return {
    clock,
    env,
    files,
    signals,
    stdout: outputTo(Deno.stdout),
    stderr: outputTo(Deno.stderr),
  };
}

/** A longer timer would go off at once. */
const LONGEST_TIMER = 2 ** 31 - 1;

const clock: Clock = {
  now: () => Date.now(),
  ticks: () => performance.now(),
  after(milliseconds, act) {
    let timer: ReturnType<typeof setTimeout>;
    const arm = (left: number) => {
      timer = left > LONGEST_TIMER
        ? setTimeout(() => arm(left - LONGEST_TIMER), LONGEST_TIMER)
        : setTimeout(act, left);
    };
    arm(milliseconds);
    return () => clearTimeout(timer);
  },
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
};

/** From here on it is worth to ask whether a file is too large to be read. */
const LARGE = 64 * 1024 * 1024;

const files: Files = {
  async read(path) {
    demand({ name: "read", path });
    // Small as most files are, it takes longer to hand one to another thread than to read it. What
    // is no file may let one wait.
    const { isFile, isDirectory, size } = Deno.statSync(path);
    if (isDirectory || isFile && size < LARGE) return Deno.readFileSync(path);
    const { readStream } = await import("./read_stream.ts");
    return await readStream(path);
  },
  async list(path) {
    demand({ name: "read", path });
    const names: string[] = [];
    try {
      for await (const entry of Deno.readDir(path)) {
        if (entry.isFile || entry.isSymlink && await leadsToFile(`${path}/${entry.name}`)) {
          names.push(entry.name);
        }
      }
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) return undefined;
      if (error instanceof Deno.errors.NotADirectory) return undefined;
      throw error;
    }
    return names.sort();
  },
  entries: async (folder) => (await import("./read_entries.ts")).readEntries(folder),
  isFile: leadsToFile,
  realPath: async (path) => await (await import("./real_path.ts")).realPath(path),
  stage: async (path) => (await import("./staged_file.ts")).stageFile(path),
  grow: async (path) => (await import("./staged_file.ts")).openGrowingFile(path, "anew"),
  append: async (path) => (await import("./staged_file.ts")).openGrowingFile(path, "append"),
  workingFolder: () => Deno.cwd(),
};

const SIGNALS: readonly SignalName[] = Deno.build.os === "windows"
  ? ["SIGINT", "SIGBREAK"]
  : ["SIGINT", "SIGTERM", "SIGHUP"];

const signals: Signals = {
  listen(hear) {
    const listeners = SIGNALS.map((signal) => [signal, () => hear(signal)] as const);
    for (const [signal, listener] of listeners) Deno.addSignalListener(signal, listener);
    return () => {
      for (const [signal, listener] of listeners) Deno.removeSignalListener(signal, listener);
    };
  },
};

async function leadsToFile(path: string): Promise<boolean> {
  demand({ name: "read", path });
  try {
    return (await Deno.stat(path)).isFile;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function outputTo(stream: typeof Deno.stdout): Output {
  const encoder = new TextEncoder();
  let readerIsGone = false;
  return {
    isTerminal: stream.isTerminal(),
    columns: () => consoleSize().columns || 80,
    rows: () => consoleSize().rows || 24,
    write(text) {
      if (readerIsGone) return false;
      try {
        for (let rest = encoder.encode(text); rest.length > 0;) {
          rest = rest.subarray(writeSome(stream, rest));
        }
      } catch (error) {
        if (!(error instanceof Deno.errors.BrokenPipe)) throw outputError(error);
        readerIsGone = true;
      }
      return !readerIsGone;
    },
  };
}

/** An output takes nothing, though somebody may read it: its disk is full. The message says why. */
export class OutputError extends Error {
  /** The name of the class. */
  override readonly name = "OutputError";
}

function outputError(error: unknown): OutputError {
  const message = error instanceof Error ? error.message : String(error);
  return new OutputError(message.replace(/ \(os error \d+\).*/s, ""), { cause: error });
}

/** Bytes written; none where whoever shares the pipe made it one that does not wait. */
function writeSome(stream: typeof Deno.stdout, bytes: Uint8Array): number {
  try {
    return stream.writeSync(bytes);
  } catch (error) {
    if (!(error instanceof Deno.errors.WouldBlock)) throw error;
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    return 0;
  }
}

function consoleSize(): { readonly columns: number; readonly rows: number } {
  try {
    return Deno.consoleSize();
  } catch {
    return { columns: 0, rows: 0 };
  }
}
