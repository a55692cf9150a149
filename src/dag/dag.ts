/** The graph of a workflow as drawings show it. */
export interface Dag {
  /** The name of the workflow. */
  readonly name: string;
  /** In the order of the file. */
  readonly jobs: readonly DagJob[];
}

export interface DagJob {
  readonly id: string;
  /** Its templates filled in as far as they can be before anything runs. */
  readonly name: string;
  /** Ids of jobs, each once. */
  readonly needs: readonly string[];
  /** 0 for a job without needs, else one more than the highest level among its needs. */
  readonly level: number;
  readonly steps: readonly DagStep[];
}

export interface DagStep {
  readonly id?: string;
  /** The name of its action where the file gives none. */
  readonly name: string;
  readonly uses: string;
  /** The steps of the job that it embeds. */
  readonly steps?: readonly DagStep[];
}
