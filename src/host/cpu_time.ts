/** Makes a function that tells the milliseconds of processor time that this thread has used. */
export async function cpuMeter(): Promise<() => number> {
  const { default: process } = await import("node:process");
  return () => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1000;
  };
}
