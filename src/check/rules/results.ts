import type { BinaryExpression, Node } from "../../expr/parse/ast.ts";
import { childrenOf } from "../../expr/parse/tree.ts";
import { valueReferences } from "../../expr/references.ts";
import { fieldMeantBy } from "../../base/other_tools.ts";
import { didYouMean } from "../../base/text/suggest.ts";
import { isNumber, typeName } from "../../base/value/value.ts";
import type { Problem } from "../../workflow/problem.ts";
import { ALL } from "../../workflow/step_facts.ts";
import type { Check, CheckedStep, CheckModel, Reading } from "../model.ts";
import { openStepsOf } from "./messages.ts";
import { conditionsOf, isOptional, keyProblem } from "../readings.ts";

/** States of jobs that are read as `needs.<id>` where the job does not need them. */
export const unknownNeed: Check = {
  codes: [
    {
      code: "unknown-need-state",
      severity: "error",
      summary: "Reads the state of a job that is not in the `needs` of this job.",
    },
  ],
  *find({ readings, jobs }) {
    const ids = jobs.map(({ draft }) => draft.id);
    for (const reading of readings) {
      const { root, keys: [first], job: { draft, needs } } = reading;
      // The cleanup of a workflow sees the states of all its jobs.
      const known = draft.isCleanup ? ids : draft.needs;
      if (root !== "needs" || !first || !needs || known.includes(first.name)) continue;
      if (isOptional(reading, 0)) continue;
      yield keyProblem(reading, 0, {
        severity: "error",
        code: "unknown-need-state",
        message: `"${first.name}" is not in the needs of this job`,
        hint: ids.includes(first.name)
          ? `add it to the needs of this job: needs: [${[...draft.needs, first.name].join(", ")}]`
          : didYouMean(first.name, known),
      });
    }
  },
};

/** Fields that are never there, and comparisons that can never be true. */
export const responseField: Check = {
  codes: [
    {
      code: "unknown-field",
      severity: "error",
      summary: "Reads a field of `res`, `rt`, `needs`, `run` or `job` that never exists.",
    },
    {
      code: "impossible-comparison",
      severity: "warning",
      summary: "Compares a result or a message with a value that it never has.",
    },
  ],
  *find(model) {
    const { readings, steps, jobs } = model;
    const matrices = new Set(jobs.flatMap(({ draft }) => draft.matrix ? draft.id : []));
    for (const reading of readings) yield* unknownField(reading, matrices, model);
    for (const step of steps) {
      if (!step.draft.action?.responseFields) continue;
      for (const [path, { node: condition }] of conditionsOf(step)) {
        for (const node of comparisonsIn(condition)) {
          const problem = impossibleComparison(node, step, model);
          if (problem) yield { ...problem, path, range: { start: node.start, end: node.end } };
        }
      }
    }
  },
};

function* unknownField(
  reading: Reading,
  matrices: ReadonlySet<string>,
  model: CheckModel,
): Iterable<Problem> {
  const fields = knownFields(reading, matrices, model);
  const field = fields && reading.keys[fields.index];
  if (!field || fields.names.includes(field.name)) return;
  const { index, names, owner, has } = fields;
  if (isOptional(reading, index)) return;
  yield keyProblem(reading, index, {
    severity: "error",
    code: "unknown-field",
    message: `unknown field "${field.name}" of ${owner}: it is always nil`,
    hint: didYouMean(fieldMeantBy(field.name) ?? "", names) ?? didYouMean(field.name, names) ??
      `${has} ${names.join(", ")}`,
  });
}

/** The fields of the read value, and the index of the key that names one. */
interface Fields {
  readonly index: number;
  readonly names: readonly string[];
  readonly owner: string;
  readonly has: string;
}

function knownFields(
  { root, keys: [first, second], step }: Reading,
  matrices: ReadonlySet<string>,
  { stepsById, embeddedBy }: CheckModel,
): Fields | undefined {
  switch (root) {
    case "vars":
    case "outputs":
      return undefined;
    case "res": {
      const { name, responseFields } = step?.draft.action ?? {};
      if (!responseFields) return undefined;
      const job = step && first?.name === "outputs" && second ? embeddedBy(step.draft) : undefined;
      if (job) {
        const names = [...job.stepsById.keys(), ...job.publishers.keys()];
        return { index: 1, names, owner: "the outputs of the job", has: "it has" };
      }
      const names = responseFields.map(({ name }) => name);
      return { index: 0, names, owner: `the result of ${name}`, has: `${name} gives` };
    }
    case "needs": {
      const owner = `needs.${first?.name}`;
      const names = matrices.has(first?.name ?? "") ? ["state", ALL] : ["state"];
      return { index: 1, names, owner, has: `${owner} has` };
    }
    case "message": {
      const known = messageFields(step, stepsById);
      if (!known) return undefined;
      const { fields, kinds } = known;
      const names = [...new Set(fields.map(({ name }) => name))];
      return { index: 0, names, owner: `a message of ${kinds.join(" or ")}`, has: "it has" };
    }
    default:
      return { index: 0, names: FIELDS[root], owner: root, has: `${root} has` };
  }
}

/** The fields of the messages that a step of receive takes, where all of them are known. */
function messageFields(step: CheckedStep | undefined, stepsById: CheckModel["stepsById"]) {
  if (step?.draft.action?.name !== "receive") return undefined;
  const sources = openStepsOf(step).flatMap(({ id }) => stepsById.get(id) ?? []);
  const known = sources.map(({ draft }) => draft.action?.messageFields);
  if (known.length === 0 || known.includes(undefined)) return undefined;
  const kinds = [...new Set(sources.map(({ draft }) => draft.action!.name))];
  return { fields: known.flatMap((fields) => fields!), kinds };
}

const FIELDS = {
  rt: ["duration", "sec"],
  run: ["state", "failed", "failures", "streak", "previous"],
  job: ["state", "failed"],
  trace: ["id", "span"],
};

function comparisonsIn(node: Node): readonly BinaryExpression[] {
  const inside = childrenOf(node).flatMap(comparisonsIn);
  const isOne = node.type === "BinaryExpression" &&
    (node.operator === "==" || node.operator === "!=");
  return isOne ? [node, ...inside] : inside;
}

function impossibleComparison(
  { left, right, operator }: BinaryExpression,
  step: CheckedStep,
  { stepsById }: CheckModel,
): Omit<Problem, "path"> | undefined {
  const value = constantOf(right) ?? constantOf(left);
  const side = constantOf(right) === undefined ? right : left;
  const [read, another] = valueReferences(side);
  if (value === undefined || !read || another || read.isOpen) return undefined;
  const always = operator === "==" ? "never true" : "always true";
  const problem = { severity: "warning", code: "impossible-comparison" } as const;
  if (read.root === "status" && read.keys.length === 0) {
    if (value === 0 || value === 1) return undefined;
    const message = `status is 0 or 1, so that this is ${always}`;
    return { ...problem, message, hint: "0 is success, 1 anything else" };
  }
  const [key, ...rest] = read.keys;
  const fields = read.root === "res"
    ? step.draft.action?.responseFields
    : read.root === "message"
    ? messageFields(step, stepsById)?.fields
    : undefined;
  // The messages of several steps may have it with different types.
  const [field, ...others] = (fields ?? []).filter(({ name }) => name === key?.name);
  const type = typeName(value);
  if (rest.length > 0 || !field?.type || field.type === type) return undefined;
  if (others.some((other) => other.type !== field.type)) return undefined;
  const name = `${read.root}.${field.name}`;
  const message = `${name} is ${field.type}, this is ${type}: it is ${always}`;
  return { ...problem, message, hint: field.hint };
}

/** A literal that is not nil, also a negative number. */
function constantOf(node: Node): string | number | bigint | boolean | undefined {
  if (node.type === "Literal") return node.value ?? undefined;
  if (node.type !== "UnaryExpression" || node.operator !== "-") return undefined;
  const value = constantOf(node.argument);
  return isNumber(value) ? -value : undefined;
}

/** Ids of traces, which a run has only with `--trace`. */
export const untraced: Check = {
  codes: [{
    code: "untraced-run",
    severity: "hint",
    summary: "Reads `trace.id` or `trace.span`, which is nil in a run without `--trace`.",
  }],
  *find({ readings }) {
    for (const reading of readings) {
      const { root, keys: [first] } = reading;
      if (root !== "trace" || !first || isOptional(reading, 0)) continue;
      yield keyProblem(reading, 0, {
        severity: "hint",
        code: "untraced-run",
        message: `trace.${first.name} is nil without --trace`,
        hint: "run the workflow with --trace",
      });
    }
  },
};
