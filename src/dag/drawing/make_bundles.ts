import type { Bundle } from "./sheet.ts";

/** Jobs that are the same to others: they have the same needs, or the same jobs need them. */
interface Twins {
  readonly jobs: readonly number[];
  readonly others: readonly number[];
}

/**
 * Divides the needs of all jobs into bundles, as few as possible: each need joins the bundle of
 * the end that has more needs.
 */
export function makeBundles(needs: readonly (readonly number[])[]): readonly Bundle[] {
  const dependents: number[][] = needs.map(() => []);
  needs.forEach((list, job) => list.forEach((need) => dependents[need]!.push(job)));
  const sources = findTwins(dependents);
  const targets = findTwins(needs);
  const targetOf = indexTwins(targets);
  const sourceOf = indexTwins(sources);
  const rank = ({ others }: Twins, index: ReadonlyMap<number, Twins>) =>
    new Set(others.map((other) => index.get(other))).size;

  const fanOut = new Map<Twins, Twins[]>();
  const fanIn = new Map<Twins, Twins[]>();
  for (const source of sources) {
    const ends = new Set(source.others.map((job) => targetOf.get(job)!));
    for (const target of ends) {
      if (ends.size >= rank(target, sourceOf)) listOf(fanOut, source).push(target);
      else listOf(fanIn, target).push(source);
    }
  }
  const jobsOf = (twins: readonly Twins[]) => twins.flatMap(({ jobs }) => jobs);
  return [
    ...[...fanOut].map(([source, ends]) => ({ sources: source.jobs, targets: jobsOf(ends) })),
    ...[...fanIn].map(([target, ends]) => ({ sources: jobsOf(ends), targets: target.jobs })),
  ];
}

/** Groups jobs by their neighbours; those without any are in no group. */
function findTwins(neighbours: readonly (readonly number[])[]): readonly Twins[] {
  const groups = new Map<string, { jobs: number[]; others: readonly number[] }>();
  neighbours.forEach((others, job) => {
    if (others.length === 0) return;
    const key = others.toSorted((a, b) => a - b).join();
    const group = groups.get(key);
    if (group) group.jobs.push(job);
    else groups.set(key, { jobs: [job], others });
  });
  return [...groups.values()];
}

function indexTwins(groups: readonly Twins[]): ReadonlyMap<number, Twins> {
  return new Map(groups.flatMap((twins) => twins.jobs.map((job) => [job, twins] as const)));
}

function listOf<Key, Value>(lists: Map<Key, Value[]>, key: Key): Value[] {
  const list = lists.get(key) ?? [];
  lists.set(key, list);
  return list;
}
