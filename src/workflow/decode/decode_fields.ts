import { hintForKey, otherKeys } from "../../base/other_tools.ts";
import { didYouMean, suggest } from "../../base/text/suggest.ts";
import type { Path } from "../../base/source.ts";
import { describeValue, type Dict, isDict, isNumber, type Value } from "../../base/value/value.ts";
import type { Field, FieldTable, FieldType } from "./field.ts";
import { ASSERTION, JOB_FIELDS, STEP_FIELDS } from "./fields.ts";
import { type Expressions, IN_STEP, seeing, seeingMatrix, seeingRound } from "./expressions.ts";
import { addError, addWarning, type Problem, refuseLiteral, warnOfBraces } from "../problem.ts";
import type { Assertion, Duration, NameRule, StepOutput } from "../model.ts";
import { convertParameter } from "../../action/parameters.ts";
import type { LoadedActions } from "../../actions/registry.ts";
import type { DataTemplate, Expression, Template } from "../../expr/expression.ts";
import { holdsTemplate, isTemplate } from "../../expr/template/template_data.ts";
import { durationProblem, parseDuration } from "../../base/value/duration.ts";
import type { Limits } from "../limits.ts";

/** The shared state of decoding a workflow: its inputs and findings. */
export interface Decoding extends LoadedActions {
  readonly problems: Problem[];
  readonly limits: Limits;
  readonly expressions: Expressions;
  /** In steps that clean up: the names that their expressions see besides those of other steps. */
  readonly cleanupNames?: readonly string[];
  /** Values for `with` by action, under those of each job. */
  readonly defaults?: ReadonlyMap<string, Dict>;
  /** In a job with a matrix: the names of its values, where they are known. */
  readonly matrix?: { readonly names: readonly string[] | undefined };
  /** In a job with `load`, whose steps see its round. */
  readonly hasLoad?: boolean;
}

/** The decoded value of each key type. */
interface Decoded {
  readonly text: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
  readonly template: Template;
  readonly expression: Expression;
  /** An expression, or a list of them; each may have words. */
  readonly assertions: readonly Assertion[];
  readonly duration: Duration;
  /** Texts of a list. */
  readonly names: readonly string[];
  /** A mapping whose values may hold templates. */
  readonly data: DataTemplate;
  /** The caller decodes these further. */
  readonly iteration: unknown;
  readonly rows: unknown;
  readonly snapshot: unknown;
  readonly matrix: unknown;
  /** The types of columns, by their names or all by their values. */
  readonly types: Dict | "auto";
  readonly outputs: readonly StepOutput[];
  /** A mapping or a list that is decoded further by who asked for it. */
  readonly map: Dict;
  readonly list: readonly unknown[];
}

const NBSP = 'a non-breaking space follows the ":": write a plain one';

/** The code of a key that the file format does not have. */
export const UNKNOWN_KEY = "unknown-key";

/** The keys of a mapping that are there and fit their types. */
type DecodedFields<F extends Readonly<Record<string, Field>>> = {
  readonly [K in keyof F]?: Decoded[F[K]["type"]];
};

/** Decodes a mapping by the table of its keys; undefined, with a problem reported, if it is not one. */
export function decodeFields<F extends Readonly<Record<string, Field>>>(
  value: unknown,
  path: Path,
  table: FieldTable<F>,
  decoding: Decoding,
): DecodedFields<F> | undefined {
  const { problems } = decoding;
  if (!isDict(value)) {
    const message = `${table.what} must be a map, not ${describeValue(value)}`;
    const hint = typeof value === "string" && /^[\w-]+:\u00A0/.test(value) ? NBSP : undefined;
    addError(problems, "type", path, message, { hint });
    return undefined;
  }
  reportUnknownKeys(value, path, table, decoding);
  const decoded: Record<string, unknown> = {};
  for (const [name, field] of Object.entries(table.fields)) {
    const part = Object.hasOwn(value, name) ? value[name] : undefined;
    const at = [...path, name];
    if (field.required && isMissing(part) && !(part === undefined && hasOther(value, field))) {
      if (part === undefined) {
        const hint = field.whenMissing?.(value);
        const or = field.unless === undefined ? "" : ` or "${field.unless}"`;
        addError(problems, "missing", path, `${table.what} needs "${name}"${or}`, { hint });
      } else addError(problems, "empty", at, `"${name}" must not be empty`);
    } else if (part !== undefined && (part !== null || isCondition(field))) {
      const result = decodeValue(field.type, part, at, namesIn(field, decoding), decoding);
      if (result !== undefined && isInRange(result, field, at, decoding)) decoded[name] = result;
    }
  }
  return decoded as DecodedFields<F>;
}

/** Whether a key is there that will do instead of a required one. */
function hasOther(map: Dict, { unless }: Field): boolean {
  return unless !== undefined && Object.hasOwn(map, unless) && !isMissing(map[unless]);
}

/** The names that expressions in a key see; in steps that clean up and with a matrix they are more. */
export function namesIn({ names = IN_STEP }: Field, decoding: Decoding): NameRule {
  const { cleanupNames = [], matrix, hasLoad } = decoding;
  const seen = seeing(names, cleanupNames);
  const rule = hasLoad && names.known?.includes("repeat_index") ? seeingRound(seen) : seen;
  return matrix ? seeingMatrix(rule, matrix.names) : rule;
}

/** Whether the key without a value is a mistake: its condition was probably commented out. */
export function isCondition({ type }: Field): boolean {
  return type === "expression" || type === "assertions";
}

/** Whether a value can be used: a number that is too small is reported, and used nevertheless. */
function isInRange(
  value: unknown,
  { choices, minimum }: Field,
  path: Path,
  { problems }: Decoding,
): boolean {
  const name = path.at(-1);
  if (minimum !== undefined && Number(value) < minimum) {
    const range = minimum === 0 ? "0 or greater" : `at least ${minimum}`;
    addError(problems, "range", path, `"${name}" must be ${range}, not ${value}`);
  }
  if (!choices || isDict(value) || choices.includes(String(value))) return true;
  const message = `"${name}" must be ${choices.join(" or ")}, not "${value}"`;
  addError(problems, "choice", path, message, { hint: didYouMean(String(value), choices) });
  return false;
}

function isMissing(value: unknown): boolean {
  return value === undefined || value === null || Array.isArray(value) && value.length === 0 ||
    typeof value === "string" && value.trim() === "";
}

/** Reports the keys that the table does not have. Those that begin with `x-` hold anchors or notes. */
function reportUnknownKeys<F extends Readonly<Record<string, Field>>>(
  map: Dict,
  path: Path,
  { what, fields }: FieldTable<F>,
  { problems }: Decoding,
): void {
  const unknown = Object.keys(map).filter((key) =>
    !Object.hasOwn(fields, key) && !/^x[-_]/.test(key)
  );
  if (unknown.length === 0) return;
  const aliases = otherKeys(what).filter((key) => hintForKey(what, key)?.startsWith("the key is"));
  const names = [...Object.keys(fields), ...aliases];
  const otherHint = emptyHint(map, fields) ??
    'a key for notes or anchors begins with "x-"';
  for (const key of unknown) {
    const known = hintForKey(what, key) ?? ownerHint(what, key);
    const near = known === undefined ? suggest(key, names) : undefined;
    const hint = known ??
      (/^\s/.test(key)
        ? "it begins with a non-breaking space: indent with plain spaces"
        : /\s$/.test(key)
        ? "it ends with a non-breaking space: delete it"
        : near === undefined
        ? otherHint
        : hintForKey(what, near) ?? `did you mean "${near}"?`);
    const message = `unknown key "${key}" in ${what}`;
    addError(problems, UNKNOWN_KEY, [...path, key], message, { part: "key", hint });
  }
}

/** A hint for a key that belongs to a job or a step. */
function ownerHint(what: string, key: string): string | undefined {
  const owners = what === "the workflow"
    ? [JOB_FIELDS, STEP_FIELDS]
    : what === "a step"
    ? [JOB_FIELDS]
    : what === "a job" || what === "a job file"
    ? [STEP_FIELDS]
    : [];
  const owner = owners.find(({ fields }) => Object.hasOwn(fields, key));
  return owner && `"${key}" is a key of ${owner.what}`;
}

/** Types of keys that contain more keys. */
const HOLDERS: readonly FieldType[] = ["map", "data", "outputs"];

/** An unknown key may belong under an empty key above it, for example a bare `with:`. */
function emptyHint(map: Dict, fields: Readonly<Record<string, Field>>): string | undefined {
  const empty = Object.keys(map).find((key) =>
    map[key] === null && Object.hasOwn(fields, key) && HOLDERS.includes(fields[key]!.type)
  );
  return empty && `"${empty}" is empty: indent the keys that belong to it deeper than it`;
}

/** A value of a document with its path, and how it is decoded. */
interface Input {
  readonly value: unknown;
  readonly path: Path;
  /** The key in quotes, to begin a message with. */
  readonly name: string;
  readonly names: NameRule;
  readonly decoding: Decoding;
}

/** Decodes the value of a key by its type; undefined, with a problem reported, if it does not fit. */
function decodeValue<T extends FieldType>(
  type: T,
  value: unknown,
  path: Path,
  names: NameRule,
  decoding: Decoding,
): Decoded[T] | undefined {
  return DECODERS[type]({ value, path, name: `"${path.at(-1)}"`, names, decoding });
}

const DECODERS: { readonly [T in FieldType]: (input: Input) => Decoded[T] | undefined } = {
  text: readText,
  integer: decodeInteger,
  number: (input) => convertParameter("number", input.value as Value) ?? refuse(input, "a number"),
  boolean: (input) => typeof input.value === "boolean" ? input.value : refuse(input, "a boolean"),
  template: (input) => {
    const text = readText(input);
    if (text === undefined) return undefined;
    const { path, names, decoding: { problems, expressions } } = input;
    warnOfBraces(problems, text, path);
    return expressions.template(text, path, names);
  },
  expression: decodeExpression,
  assertions: decodeAssertions,
  duration: decodeDuration,
  names: decodeNames,
  data: (input) => {
    const { value, path, names, decoding: { problems, expressions } } = input;
    if (!isDict(value)) return refuse(input, "a map");
    warnOfBraces(problems, value, path);
    return expressions.data(value, path, names);
  },
  iteration: ({ value }) => value,
  rows: ({ value }) => value,
  snapshot: ({ value }) => value,
  matrix: ({ value }) => value,
  types: (input) => {
    const { value } = input;
    return isDict(value) || value === "auto" ? value : refuse(input, 'a map or "auto"');
  },
  outputs: decodeOutputs,
  map: (input) => isDict(input.value) ? input.value : refuse(input, "a map", countHint(input)),
  list: (input) => Array.isArray(input.value) ? input.value : refuseList(input),
};

function refuse({ decoding, path, name, value }: Input, wanted: string, hint?: string): undefined {
  const message = `${name} must be ${wanted}, not ${describeValue(value)}`;
  addError(decoding.problems, "type", path, message, { hint });
}

function refuseList(input: Input): undefined {
  const { value } = input;
  const hint = isDict(value)
    ? 'begin each item with "- "'
    : isTemplate(value)
    ? "write the list out; its items may hold templates"
    : undefined;
  return refuse(input, "a list", hint);
}

/** `retry: 5` and `repeat: 5`, as other tools have it. */
function countHint({ value, path }: Input): string | undefined {
  const key = path.at(-1);
  const count = key === "retry" ? "max_attempts" : key === "repeat" ? "count" : undefined;
  if (count === undefined || typeof value !== "number") return undefined;
  return `write ${key}: { ${count}: ${value} }`;
}

/** Text, as which numbers and booleans will do. */
function readText(input: Input, wanted = "a string"): string | undefined {
  const { value } = input;
  if (typeof value === "string") return value;
  if (isNumber(value) || typeof value === "boolean") return String(value);
  const hint = isDict(value) ? "put the whole value in quotes" : undefined;
  return refuse(input, wanted, hint);
}

/** The pattern of a whole number. */
export const INTEGER_TEXT = /^\s*[-+]?\d+\s*$/;
function decodeInteger(input: Input): number | undefined {
  const { value } = input;
  const number = typeof value === "string" && INTEGER_TEXT.test(value) ? Number(value) : value;
  if (Number.isSafeInteger(number)) return number as number;
  const hint = isTemplate(value)
    ? "it cannot be a template: it must be known when loaded"
    : undefined;
  return refuse(input, "an integer", hint);
}

function decodeNames(input: Input): readonly string[] | undefined {
  const { value, path } = input;
  if (typeof value === "string" || isNumber(value)) {
    return refuse(input, "a list", `write ${path.at(-1)}: [${value}]`);
  }
  if (!Array.isArray(value)) return refuseList(input);
  return value.flatMap((item, index) => readText(itemOf(input, item, index)) ?? []);
}

function itemOf(input: Input, value: unknown, index: number): Input {
  const name = `item ${index + 1} of ${input.name}`;
  return { ...input, value, path: [...input.path, index], name };
}

function decodeExpression(input: Input): Expression | undefined {
  const { value, path, name, names, decoding: { problems, expressions } } = input;
  if (Array.isArray(value)) return refuse(input, "an expression", "join conditions with &&");
  const text = value === null ? "" : readText(input, "an expression");
  if (text === undefined) return undefined;
  if (text.trim() === "") {
    addError(problems, "empty", path, `${name} is empty`, { hint: LEAVE_OUT });
    return undefined;
  }
  const expression = expressions.expression(text, path, names);
  if (expression?.node.type === "SequenceExpression") {
    const { start, end } = expression.node.expressions[0]!;
    addWarning(problems, "lost-value", path, `the value before ";" is ignored`, {
      range: { start, end },
      hint: "join conditions with &&",
    });
  }
  return expression;
}

const LEAVE_OUT = "write an expression, or leave the key out";

function decodeAssertions(input: Input): readonly Assertion[] | undefined {
  const { value, path, name, decoding } = input;
  if (!Array.isArray(value)) {
    const assertion = decodeAssertion(input);
    return assertion && [assertion];
  }
  if (value.length === 0) {
    addError(decoding.problems, "empty", path, `${name} is empty`, { hint: LEAVE_OUT });
  }
  return value.flatMap((item, index) => {
    const assertion = decodeAssertion(itemOf(input, item, index));
    return assertion ? { ...assertion, index } : [];
  });
}

/** An expression, or a map of one and what it says. */
function decodeAssertion(input: Input): Assertion | undefined {
  const { value, path, names, decoding } = input;
  const { fields } = ASSERTION;
  if (!isDict(value) || !Object.keys(fields).some((key) => Object.hasOwn(value, key))) {
    const expression = refuseLiteral(decodeExpression(input), path, decoding.problems);
    return expression && { expression };
  }
  const { that, says } = decodeFields(value, path, {
    ...ASSERTION,
    fields: { that: { ...fields.that, names }, says: { ...fields.says, names } },
  }, decoding) ?? {};
  const expression = refuseLiteral(that, [...path, "that"], decoding.problems);
  return expression && { expression, isMap: true, says };
}

/** Zero, for an omitted duration. */
export const NO_TIME: Duration = { kind: "constant", milliseconds: 0 };

function decodeDuration(input: Input): Duration | undefined {
  const { value, path, name, names, decoding: { problems, expressions } } = input;
  if (typeof value === "string" && holdsTemplate(value)) {
    const template = expressions.template(value, path, names);
    // Braces without an end are text.
    const isText = template?.parts.every((part) => typeof part === "string");
    if (!isText) return template && { kind: "template", template };
  }
  const milliseconds = parseDuration(value);
  if (milliseconds !== undefined) return { kind: "constant", milliseconds };
  const problem = typeof value === "object" ? undefined : durationProblem(value);
  if (problem === undefined) return refuse(input, "a duration");
  addError(problems, "duration", path, `${name} ${problem}`);
  return undefined;
}

function decodeOutputs(input: Input): readonly StepOutput[] | undefined {
  if (!isDict(input.value)) {
    return refuse(input, "a map of names to expressions", "write each as name: expression");
  }
  return Object.entries(input.value).flatMap(([name, value]) => {
    const path = [...input.path, name];
    const expression = decodeExpression({ ...input, value, path, name: `the output "${name}"` });
    return expression ? { name, value: expression } : [];
  });
}
