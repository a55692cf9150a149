import { SUITE, SUITE_ENTRY } from "../../suite/suite_fields.ts";
import type { Field, FieldTable, FieldType } from "../../workflow/decode/field.ts";
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

/** The types of keys in the words of the reference. */
const TYPES: { readonly [T in FieldType]: string } = {
  text: "string",
  integer: "integer",
  number: "number",
  boolean: "boolean",
  template: "string with templates",
  expression: "expression",
  assertions: "expression or map, or list of them",
  duration: "duration",
  names: "list of strings",
  data: "map with templates",
  rows: "path, list or map",
  iteration: "list, template or map",
  snapshot: "true or map",
  matrix: "map of lists",
  types: "auto or map",
  outputs: "map of names to expressions",
  map: "map",
  list: "list",
};

/** What a key may be; `quote` marks words that are written as they are. */
export function typeOfField({ type, choices }: Field, quote = (word: string) => word): string {
  return choices && type === "text" ? choices.map(quote).join(" or ") : TYPES[type];
}
