import type { Shard, SuiteMember } from "./suite.ts";

/**
 * The share of the workflows that one of several machines runs: the same split on all of them.
 * Those that take longest are dealt out first, each to the share with the least time so far.
 */
export function membersOfShard(
  members: readonly SuiteMember[],
  { index, of }: Shard,
  times: ReadonlyMap<string, number> = new Map(),
): readonly SuiteMember[] {
  const known = [...times.values()];
  const usual = known.length === 0 ? 1 : known.reduce((sum, time) => sum + time, 0) / known.length;
  const timed = members.map((member) => ({ member, time: times.get(member.path) ?? usual }));
  const order = timed.sort((a, b) =>
    b.time - a.time || compare(a.member.path, b.member.path) || a.member.index - b.member.index
  );
  const loads = new Array<number>(of).fill(0);
  const mine = new Set<SuiteMember>();
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
