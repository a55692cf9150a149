/** The jobs that are done before another starts. */
export interface JobsBefore<J> {
  readonly jobs: ReadonlySet<J>;
  /** Whether these are all: the needs on the way are known. */
  readonly isSure: boolean;
}

/** The jobs that a job needs, and those that they need. `needsOf` gives nothing where in doubt. */
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
