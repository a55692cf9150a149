import { SUITE, SUITE_ENTRY } from "../../suite/suite_fields.ts";
import type { Field, FieldTable } from "../../workflow/decode/field.ts";
import {
  ASSERTION,
  JOB_FIELDS,
  MATRIX,
  REPEAT,
  STEP_FIELDS,
  WORKFLOW,
} from "../../workflow/decode/fields.ts";
import { LOAD, LOAD_DATA, LOAD_STAGE } from "../../workflow/decode/load_fields.ts";
import { ITERATION, RETRY, SNAPSHOT } from "../../workflow/decode/step_maps.ts";

/** The keys of one kind of mapping. */
export type KeyTable = FieldTable<Readonly<Record<string, Field>>>;

type TitledTable = readonly [title: string, table: KeyTable];

/** The keys of workflow files, in the order of the reference. */
export const WORKFLOW_TABLES: readonly TitledTable[] = [
  ["Workflow", WORKFLOW],
  ["Job", JOB_FIELDS],
  ["repeat", REPEAT],
  ["load", LOAD],
  ["stages of load", LOAD_STAGE],
  ["data of load", LOAD_DATA],
  ["matrix", MATRIX],
  ["Step", STEP_FIELDS],
  ["test and expect", ASSERTION],
  ["iteration", ITERATION],
  ["retry", RETRY],
  ["snapshot", SNAPSHOT],
];

/** The keys of suite files. */
export const SUITE_TABLES: readonly TitledTable[] = [
  ["Suite file", SUITE],
  ["Suite file: an item of `workflows`", SUITE_ENTRY],
];
