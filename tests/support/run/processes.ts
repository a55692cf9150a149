/** Whether a process is running: neither gone nor a zombie. */
export function isRunning(pid: number): boolean {
  try {
    const stat = Deno.readTextFileSync(`/proc/${pid}/stat`);
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(")") + 2));
  } catch {
    // Not Linux, or gone.
  }
  try {
    Deno.kill(pid, 0);
    return Deno.build.os !== "linux";
  } catch {
    return false;
  }
}

/** Waits until a condition is true; the test runner's timeout is the limit. */
export async function until(isSo: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const end = performance.now() + 20_000;
  while (!await isSo()) {
    if (performance.now() > end) throw new Error(`waited in vain until ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
