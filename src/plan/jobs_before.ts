/** The jobs that are done before another starts. */
export interface JobsBefore<J> {
  readonly jobs: ReadonlySet<J>;
  /** Whether these are all: the needs on the way are known. */
  readonly isSure: boolean;
}

/** The direct and indirect needs of a job. `needsOf` returns nothing for unknown jobs. */
export function jobsBefore<J>(
  later: J,
  needsOf: (job: J) => readonly J[] | undefined,
): JobsBefore<J> {
  const first = needsOf(later);
  const jobs = new Set(first);
  let isSure = first !== undefined;
  // The set grows while it is walked through.
  for (const job of jobs) {
    const needs = needsOf(job);
    if (!needs) isSure = false;
    for (const need of needs ?? []) jobs.add(need);
  }
  return { jobs, isSure };
}
