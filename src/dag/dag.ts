/** The graph of a workflow as drawings show it. */
export interface Dag {
  /** The name of the workflow. */
  readonly name: string;
  /** In the order of the file. */
  readonly jobs: readonly DagJob[];
}

/** The graphs of several workflows: those of setup come first, those of teardown last. */
export interface SuiteDag {
  /** The name that a suite file gives. */
  readonly name?: string;
  readonly workflows: readonly DagOfMany[];
}

/** The graph of one of several workflows. */
export interface DagOfMany extends Dag {
  readonly file: string;
  /** Its role if it is not one of the workflows. */
  readonly role?: "setup" | "teardown";
}

export interface DagJob {
  readonly id: string;
  /** With its templates rendered as far as possible before a run. */
  readonly name: string;
  /** Ids of jobs, each once. */
  readonly needs: readonly string[];
  /** 0 for a job without needs, else one more than the highest level among its needs. */
  readonly level: number;
  /** The tags of the workflow and its own, if there are any. */
  readonly tags?: readonly string[];
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
