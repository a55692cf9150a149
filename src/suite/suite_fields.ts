import { MATRIX } from "../workflow/decode/fields.ts";
import type { Field, FieldTable } from "../workflow/decode/field.ts";
import { IN_SUITE_NAME, IN_WORKFLOW_VARS } from "../workflow/decode/expressions.ts";

/** The top level of a suite file. */
export const SUITE = {
  what: "the suite",
  fields: {
    name: { type: "text", summary: "Shown at the top of the report." },
    workflows: {
      type: "list",
      required: true,
      summary: "Workflow files, directories and patterns, as text or as maps with `path`; " +
        "relative to the suite file.",
    },
    vars: {
      type: "data",
      names: IN_WORKFLOW_VARS,
      summary: "Added to the vars of each workflow, or replace the var of that name.",
    },
    defaults: {
      type: "map",
      summary:
        "Default values of `with` in all workflows, by the name of the action; those of a job take precedence.",
    },
    env_file: { type: "names", summary: "Files with NAME=value lines that `vars` can read." },
    setup: {
      type: "names",
      summary: "Workflow files that run first; all others can read their outputs by step id.",
    },
    teardown: {
      type: "names",
      summary: "Workflow files that always run last.",
    },
    workers: {
      type: "integer",
      minimum: 1,
      summary: "How many workflows run at once.",
      default: "one for each processor, at most 4",
    },
    report: {
      type: "names",
      summary: "Reports to write, such as `junit=out/junit.xml`, unless `--report` is given.",
    },
  },
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;

/** A workflow of a suite that has more than a path. */
export const SUITE_ENTRY = {
  what: "a workflow of the suite",
  fields: {
    path: {
      type: "text",
      required: true,
      namesFile: "yaml",
      summary: "A file, a directory or a pattern.",
    },
    name: {
      type: "template",
      names: IN_SUITE_NAME,
      summary: "Shown in reports in place of the name of the workflow; before the names of the " +
        "workflows of a directory or a pattern.",
    },
    matrix: {
      type: "matrix",
      names: IN_WORKFLOW_VARS,
      summary: "Runs it once for each combination of values, which `name` and `vars` read as " +
        "`matrix`.",
    },
    vars: {
      type: "data",
      names: IN_WORKFLOW_VARS,
      summary: "Vars of this workflow; they take precedence over those of the suite.",
    },
    tags: { type: "names", summary: "Tags of all its jobs, in addition to their own." },
  },
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;

/** `matrix` of a workflow of a suite. */
export const SUITE_MATRIX = {
  what: "matrix",
  fields: {
    include: { ...MATRIX.fields.include, names: IN_WORKFLOW_VARS },
    exclude: { ...MATRIX.fields.exclude, names: IN_WORKFLOW_VARS },
  },
} as const satisfies FieldTable<Readonly<Record<string, Field>>>;

/** Keys of a suite that may be one text in place of a list. */
export const ONE_OR_MANY: readonly string[] = ["env_file", "setup", "teardown", "report"];
