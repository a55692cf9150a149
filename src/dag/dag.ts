/** The graph of a workflow as drawings show it. */
export interface Dag {
  /** The name of the workflow. */
  readonly name: string;
  /** In the order of the file. */
  readonly jobs: readonly DagJob[];
}

export interface DagJob {
  readonly id: string;
  /** With its templates rendered as far as possible before a run. */
  readonly name: string;
  /** Ids of jobs, each once. */
  readonly needs: readonly string[];
  /** 0 for a job without needs, else one more than the highest level among its needs. */
  readonly level: number;
  readonly steps: readonly DagStep[];
}

export interface DagStep {
  readonly id?: string;
  /** By default the name of its action. */
  readonly name: string;
  readonly uses: string;
  /** The steps of the job that it embeds. */
  readonly steps?: readonly DagStep[];
}
