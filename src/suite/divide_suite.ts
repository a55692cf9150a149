import type { Shard, SuiteMember } from "./suite.ts";

/**
 * The share of the workflows that one of several machines runs: the same split on all of them.
 * The slowest workflows are assigned first, each to the shard with the least time so far.
 */
export function membersOfShard<M extends Pick<SuiteMember, "path" | "index">>(
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
    const lightest = loads.indexOf(Math.min(...loads));
    loads[lightest]! += time;
    if (lightest === index - 1) mine.add(member);
  }
  return members.filter((member) => mine.has(member));
}

/** Independent of the locale, so that all shards agree. */
function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

/** The same items in another order, the same for the same seed. */
export function shuffle<T>(items: readonly T[], seed: string): T[] {
  const random = randomFrom(seed);
  const shuffled = [...items];
  for (let end = shuffled.length - 1; end > 0; end--) {
    const other = Math.floor(random() * (end + 1));
    [shuffled[end], shuffled[other]] = [shuffled[other]!, shuffled[end]!];
  }
  return shuffled;
}

/** Numbers from 0 to 1 (xorshift32, begun with the FNV-1a hash of the seed). */
function randomFrom(seed: string): () => number {
  let state = 0x811c9dc5;
  for (const character of seed) {
    state = Math.imul(state ^ character.codePointAt(0)!, 0x01000193) >>> 0;
  }
  state ||= 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    state >>>= 0;
    return state / 2 ** 32;
  };
}
