import { demand } from "./deno_permissions.ts";
import type { FileLock } from "./host.ts";
import { parentOf } from "./real_path.ts";

/**
 * Makes a file that only one process has at a time, also if the other is killed. It names its
 * holder, and is removed at the end. Throws as Deno does.
 */
export function lockFile(path: string): FileLock {
  demand({ name: "write", path });
  demand({ name: "read", path });
  Deno.mkdirSync(parentOf(path), { recursive: true });
  for (;;) {
    const options = { read: true, write: true, create: true, mode: 0o600 };
    const file = Deno.openSync(path, options);
    if (!file.tryLockSync(true)) {
      file.close();
      return { holder: readHolder(path) };
    }
    if (!isThere(file, path)) {
      // Its holder has removed it meanwhile: another process may have made a new one.
      file.close();
      continue;
    }
    try {
      file.truncateSync();
      file.writeSync(new TextEncoder().encode(`${Deno.pid}\n`));
    } catch (error) {
      release(file, path);
      throw error;
    }
    return { release: () => release(file, path) };
  }
}

function release(file: Deno.FsFile, path: string): void {
  try {
    Deno.removeSync(path);
  } catch {
    // Somebody else has removed it.
  }
  file.close();
}

function isThere(file: Deno.FsFile, path: string): boolean {
  try {
    return Deno.statSync(path).ino === file.statSync().ino;
  } catch {
    return false;
  }
}

/** The number of the process that has the file; empty where that cannot be read. */
function readHolder(path: string): string {
  try {
    return Deno.readTextFileSync(path).trim();
  } catch {
    return "";
  }
}
