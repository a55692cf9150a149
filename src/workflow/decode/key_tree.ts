import type { Parameter } from "../../action/parameter.ts";
import { parametersOf, type Rule } from "../../action/rule.ts";
import type { RuleForm } from "../names.ts";
import { iteration } from "./decode_iteration.ts";
import { load } from "./decode_load.ts";
import { jobMatrix } from "./decode_matrix.ts";
import * as rules from "./decode_workflow.ts";
import type { LateRules } from "./key.ts";

/** The keys whose rules only a file that has them loads. */
const LATE = parametersOf({ iteration, load, matrix: jobMatrix } satisfies Required<LateRules>);

/** The forms of all keys, for documents, editors and the JSON Schema. */
export const WORKFLOW = whole(rules.WORKFLOW);
export const JOB = whole(rules.job);
export const JOB_FILE = whole(rules.JOB_FILE);

function whole<T>(rule: Rule<T>): Rule<T> {
  return rule.with(wholeForm(rule.form));
}

function wholeForm<F extends RuleForm>(form: F): F {
  const { fields, items, key } = form;
  return {
    ...form,
    fields: fields?.map(wholeKey),
    items: items?.map(wholeKey),
    key: key?.item ? { ...key, item: wholeForm(key.item) } : key,
  };
}

function wholeKey(key: Parameter): Parameter {
  const late = LATE.find(({ name }) => name === key.name);
  return wholeForm(late ? { ...late, summary: key.summary } : key);
}
