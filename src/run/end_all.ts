/** Has everything ended, also where the end of something fails; throws the first reason then. */
export async function endAll(ends: readonly (() => void | Promise<void>)[]): Promise<void> {
  const settled = await Promise.allSettled(ends.map(async (end) => await end()));
  const failed = settled.find(({ status }) => status === "rejected");
  if (failed?.status === "rejected") throw failed.reason;
}
