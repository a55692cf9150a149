import type { NameRule } from "../model.ts";

/** The whole scope, by a name that every expression has. */
export const WHOLE_SCOPE = "$env";

const HINTS = {
  env: "unlike in GitHub Actions, environment variables are read in the vars of the workflow: " +
    'NAME: "{{NAME}}"',
  jobs: "what other jobs publish is in outputs",
  steps: "what other steps publish is in outputs: outputs.<step id>.<name>",
};

/** In the vars of the workflow every name but these is an environment variable. */
export const IN_WORKFLOW_VARS: NameRule = {
  where: "in the vars of the workflow",
  hints: {
    vars: "vars cannot use each other: they see environment variables, by bare name",
    outputs: "vars are evaluated before the first job: there are no outputs yet",
  },
};

/** The name of a job, which is one for all its rounds and known before any step has run. */
export const IN_JOB_NAME: NameRule = {
  where: "in the name of a job",
  known: ["vars"],
  hints: {
    ...HINTS,
    repeat_index: "a job has one name for all its rounds; the names of its steps see repeat_index",
  },
};

/** Evaluated before the steps of a job: skipif and the interval of repeat. */
export const IN_JOB: NameRule = {
  where: "in a job",
  known: ["vars", "outputs", "needs"],
  hints: HINTS,
};

/** Evaluated before a step starts: its vars and the entries of iteration. */
export const IN_STEP_VARS: NameRule = {
  where: "in the vars of a step",
  known: ["vars", "outputs", "needs", "repeat_index", "iteration_index"],
  hints: HINTS,
};

/** Evaluated before the entries of a step start: their source and which of them run. */
export const IN_ITERATION: NameRule = {
  where: "in an iteration",
  known: ["vars", "outputs", "needs", "repeat_index"],
  hints: HINTS,
};

/** Evaluated once the action of a step has returned. */
export const IN_STEP: NameRule = {
  where: "in a step",
  known: [
    ...["vars", "res", "req", "rt", "status", "outputs", "needs"],
    ...["repeat_index", "iteration_index"],
  ],
  hints: HINTS,
};

/** Evaluated before that. */
export const BEFORE_ACTION: NameRule = {
  ...IN_STEP,
  empty: { res: "nil", req: "nil", status: "0", rt: "empty" },
};

/** A rule that allows more names. */
export function seeing(rule: NameRule, names: readonly string[]): NameRule {
  return rule.known && names.length > 0 ? { ...rule, known: [...rule.known, ...names] } : rule;
}
