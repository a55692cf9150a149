/** When a job ran, and what it waited for. */
export interface JobTimes {
  readonly id: string;
  readonly needs: readonly string[];
  /** Milliseconds since 1970; absent where it did not start. */
  readonly started?: number;
  /** Milliseconds. */
  readonly duration: number;
}

/**
 * The ids of the jobs that decided how long a run took, in the order in which they ran: the job
 * that ended last, before it the need that it waited for longest, and so on.
 */
export function criticalPath(jobs: readonly JobTimes[]): string[] {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const path: string[] = [];
  let job = lastOf(jobs);
  while (job) {
    path.unshift(job.id);
    job = lastOf(job.needs.flatMap((id) => byId.get(id) ?? []));
  }
  return path;
}

function lastOf(jobs: readonly JobTimes[]): JobTimes | undefined {
  let last: JobTimes | undefined;
  for (const job of jobs) {
    if (job.started !== undefined && (!last || endOf(job) > endOf(last))) last = job;
  }
  return last;
}

function endOf({ started = 0, duration }: JobTimes): number {
  return started + duration;
}
