/** Which names an expression sees at some place of a workflow. */
export interface NameRule {
  /** The place in words: `in a step`. */
  readonly where: string;
  /** The names that there are; undefined where any name may be one, as in workflow `vars`. */
  readonly known?: readonly string[];
  /** What to do instead of using a name that looks right. */
  readonly hints?: Readonly<Record<string, string>>;
}

/** The whole scope, by a name that every expression has. */
export const WHOLE_SCOPE = "$env";

const HINTS = {
  env: 'environment variables are read in the vars of the workflow: NAME: "{{NAME}}"',
  jobs: "what other jobs publish is in outputs",
  steps: "what other steps publish is in outputs: outputs.<step id>.<name>",
};

/** In the vars of the workflow every name but these is an environment variable. */
export const WORKFLOW_VARS: NameRule = {
  where: "in the vars of the workflow",
  hints: {
    vars: "vars cannot use each other: they see environment variables, by bare name",
    outputs: "vars are evaluated before the first job: there are no outputs yet",
  },
};

/** The name of a job, which is one for all its rounds and known before any step has run. */
export const JOB_NAME: NameRule = {
  where: "in the name of a job",
  known: ["vars"],
  hints: {
    ...HINTS,
    repeat_index: "a job has one name for all its rounds; the names of its steps see repeat_index",
  },
};

/** What a job decides before its steps: skipif and the interval of repeat. */
export const JOB: NameRule = { where: "in a job", known: ["vars", "outputs"], hints: HINTS };

/** What a step computes before it begins: its vars and the entries of iteration. */
export const STEP_VARS: NameRule = {
  where: "in the vars of a step",
  known: ["vars", "outputs", "repeat_index"],
  hints: HINTS,
};

/** Everything else in a step. */
export const STEP: NameRule = {
  where: "in a step",
  known: ["vars", "res", "req", "rt", "status", "outputs", "repeat_index"],
  hints: HINTS,
};
