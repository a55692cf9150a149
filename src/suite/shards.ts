import type { Member, Shard } from "./suite.ts";

/**
 * The share of the workflows that one of several machines runs: the same split on all of them.
 * The slowest workflows are assigned first, each to the shard with the least time so far.
 */
export function membersOfShard<M extends Omit<Member, "key">>(
  members: readonly M[],
  { index, of }: Shard,
  times: ReadonlyMap<string, number> = new Map(),
): readonly M[] {
  const known = [...times.values()];
  const usual = known.length === 0 ? 1 : known.reduce((sum, time) => sum + time, 0) / known.length;
  const timed = members.map((member) => ({ member, time: times.get(member.path) ?? usual }));
  const order = timed.sort((a, b) =>
    b.time - a.time || compare(a.member.path, b.member.path) || a.member.index - b.member.index
  );
  const loads = new Array<number>(of).fill(0);
  const mine = new Set<M>();
  for (const { member, time } of order) {
    const least = loads.indexOf(Math.min(...loads));
    loads[least]! += time;
    if (least === index - 1) mine.add(member);
  }
  return members.filter((member) => mine.has(member));
}

/** Not by the language of the machine, which may not be that of another. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
