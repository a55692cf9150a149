import type { Action } from "../../action/action.ts";
import { convertParameter } from "../../action/parameters.ts";
import type { Plugins } from "../../action/plugin/load_plugins.ts";
import type { DataTemplate, Expression, Template } from "../../expr/expression.ts";
import { holdsTemplate, holdsTemplates, isTemplate } from "../../expr/template/template_data.ts";
import type { Path } from "../../base/source.ts";
import { durationProblem, parseDuration } from "../../base/value/duration.ts";
import { describeValue, isNumber, type Value } from "../../base/value/value.ts";
import type { ExpressionReader } from "./expression_reader.ts";
import type { Limits } from "../limits.ts";
import type { Assertion, Duration, NameRule, StepOutput } from "../model.ts";
import { addError, addWarning, type Problem } from "../problem.ts";

/** A mapping of a document, as it was read. */
export type RawMap = Readonly<Record<string, unknown>>;

/** Whether a value of a document is a mapping. */
export function isRawMap(value: unknown): value is RawMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The shared state of decoding a workflow: its inputs and findings. */
export interface Decoding {
  readonly problems: Problem[];
  readonly limits: Limits;
  readonly expressions: ExpressionReader;
  /** The actions that the document uses, by name. */
  readonly actions: ReadonlyMap<string, Action>;
  /** The plugins, if it uses any. */
  readonly plugins?: Plugins;
}

/** The decoded value of each key type. */
export interface Decoded {
  readonly text: string;
  readonly integer: number;
  readonly number: number;
  readonly boolean: boolean;
  readonly template: Template;
  readonly expression: Expression;
  /** An expression, or a list of them. */
  readonly assertions: readonly Assertion[];
  readonly duration: Duration;
  /** Texts of a list. */
  readonly names: readonly string[];
  /** A mapping whose values may hold templates. */
  readonly data: DataTemplate;
  /** The iteration of a step, which the caller decodes further. */
  readonly iteration: { readonly written: unknown };
  /** The snapshot of a step, which the caller decodes further. */
  readonly snapshot: { readonly written: unknown };
  readonly outputs: readonly StepOutput[];
  /** A mapping or a list that is decoded further by who asked for it. */
  readonly map: RawMap;
  readonly list: readonly unknown[];
}

/** The types of the keys of the file format. */
export type FieldType = keyof Decoded;

/** A value at its place in a document. */
interface At {
  readonly value: unknown;
  readonly path: Path;
  /** The key in quotes, to begin a message with. */
  readonly name: string;
  readonly names: NameRule;
  readonly decoding: Decoding;
}

/** Decodes the value of a key by its type; undefined, with a problem reported, if it does not fit. */
export function decodeValue<T extends FieldType>(
  type: T,
  value: unknown,
  path: Path,
  names: NameRule,
  decoding: Decoding,
): Decoded[T] | undefined {
  return DECODERS[type]({ value, path, name: `"${path.at(-1)}"`, names, decoding });
}

const DECODERS: { readonly [T in FieldType]: (at: At) => Decoded[T] | undefined } = {
  text: (at) => readText(at, "a string"),
  integer: decodeInteger,
  number: (at) => {
    const number = convertParameter("number", at.value as Value);
    return number ?? refuse(at, "a number");
  },
  boolean: (at) => typeof at.value === "boolean" ? at.value : refuse(at, "a boolean"),
  template: (at) => {
    const text = readText(at, "a string");
    if (text === undefined) return undefined;
    warnOfOpenBraces(at.decoding.problems, text, at.path);
    return at.decoding.expressions.template(text, at.path, at.names);
  },
  expression: decodeExpression,
  assertions: decodeAssertions,
  duration: decodeDuration,
  names: (at) => {
    const hint = `write ${at.path.at(-1)}: [${at.value}]`;
    const isOne = typeof at.value === "string" || isNumber(at.value);
    if (isOne) return refuse(at, "a list", hint);
    return decodeItems(at, "a list", (item) => readText(item, "a string"));
  },
  data: (at) => isRawMap(at.value) ? readData(at) : refuse(at, "a map"),
  iteration: ({ value: written }) => ({ written }),
  snapshot: ({ value: written }) => ({ written }),
  outputs: decodeOutputs,
  map: (at) => isRawMap(at.value) ? at.value : refuse(at, "a map", countHint(at)),
  list: (at) => Array.isArray(at.value) ? at.value : refuseList(at, "a list"),
};

function refuse({ decoding, path, name, value }: At, wanted: string, hint?: string): undefined {
  const message = `${name} must be ${wanted}, not ${describeValue(value)}`;
  addError(decoding.problems, "type", path, message, hint === undefined ? {} : { hint });
}

function refuseList(at: At, wanted: string): undefined {
  const hint = isRawMap(at.value) && Object.values(at.value).some(isGithubJob)
    ? GITHUB
    : isRawMap(at.value)
    ? 'begin each item with "- "'
    : isTemplate(at.value)
    ? "write the list out; its items may hold templates"
    : undefined;
  return refuse(at, wanted, hint);
}

const GITHUB = "this looks like a GitHub Actions workflow, which runner does not run";

function isGithubJob(job: unknown): boolean {
  return isRawMap(job) && Object.hasOwn(job, "runs-on");
}

/** `retry: 5` and `repeat: 5`, as other tools have it. */
function countHint({ value, path }: At): string | undefined {
  const key = path.at(-1);
  const count = key === "retry" ? "max_attempts" : key === "repeat" ? "count" : undefined;
  if (count === undefined || typeof value !== "number") return undefined;
  return `write ${key}: { ${count}: ${value} }`;
}

/** Text, as which numbers and booleans will do. */
function readText(at: At, wanted: string): string | undefined {
  const { value } = at;
  if (typeof value === "string") return value;
  if (isNumber(value) || typeof value === "boolean") return String(value);
  const hint = isRawMap(value) ? "put the whole value in quotes" : undefined;
  return refuse(at, wanted, hint);
}

function readData({ value, path, names, decoding }: At): DataTemplate {
  warnOfOpenBraces(decoding.problems, value, path);
  return decoding.expressions.data(value, path, names);
}

/** The pattern of a whole number. */
export const INTEGER_TEXT = /^\s*[-+]?\d+\s*$/;

function decodeInteger(at: At): number | undefined {
  const { value } = at;
  const number = typeof value === "string" && INTEGER_TEXT.test(value) ? Number(value) : value;
  if (Number.isSafeInteger(number)) return number as number;
  const hint = isTemplate(value)
    ? "it cannot be a template: it must be known when loaded"
    : undefined;
  return refuse(at, "an integer", hint);
}

function decodeExpression(at: At): Expression | undefined {
  const { value, path, name, names, decoding } = at;
  if (Array.isArray(value)) return refuse(at, "an expression", "join conditions with &&");
  const text = value === null ? "" : readText(at, "an expression");
  if (text === undefined) return undefined;
  if (text.trim() !== "") {
    const expression = decoding.expressions.expression(text, path, names);
    if (expression?.node.type === "SequenceExpression") {
      const { start, end } = expression.node.expressions[0]!;
      addWarning(decoding.problems, "lost-value", path, `the value before ";" is ignored`, {
        range: { start, end },
        hint: "join conditions with &&",
      });
    }
    return expression;
  }
  addError(decoding.problems, "empty", path, `${name} is empty`, {
    hint: "write an expression, or leave the key out",
  });
  return undefined;
}

function decodeAssertions(at: At): readonly Assertion[] | undefined {
  const { value, path, name, decoding } = at;
  if (!Array.isArray(value)) {
    const expression = decodeExpression(at);
    return expression && [{ expression }];
  }
  if (value.length === 0) {
    const hint = "write an expression, or leave the key out";
    addError(decoding.problems, "empty", path, `${name} is empty`, { hint });
  }
  return value.flatMap((item, index) => {
    const inside = { value: item, path: [...path, index], name: `item ${index + 1} of ${name}` };
    const expression = decodeExpression({ ...at, ...inside });
    return expression ? { expression, index } : [];
  });
}

/** Zero, for an omitted duration. */
export const NO_TIME: Duration = { kind: "constant", milliseconds: 0 };

function decodeDuration(at: At): Duration | undefined {
  const { value, path, name, names, decoding } = at;
  if (typeof value === "string" && holdsTemplate(value)) {
    const template = decoding.expressions.template(value, path, names);
    // Braces without an end are text.
    const isText = template?.parts.every((part) => typeof part === "string");
    if (!isText) return template && { kind: "template", template };
  }
  const milliseconds = parseDuration(value);
  if (milliseconds !== undefined) return { kind: "constant", milliseconds };
  const problem = typeof value === "object" ? undefined : durationProblem(value);
  if (problem === undefined) return refuse(at, "a duration");
  addError(decoding.problems, "duration", path, `${name} ${problem}`);
  return undefined;
}

function decodeItems<T>(
  at: At,
  wanted: string,
  decode: (item: At) => T | undefined,
): readonly T[] | undefined {
  const { value, path, name } = at;
  if (!Array.isArray(value)) return refuseList(at, wanted);
  const items: T[] = [];
  value.forEach((item, index) => {
    const decoded = decode({
      ...at,
      value: item,
      path: [...path, index],
      name: `item ${index + 1} of ${name}`,
    });
    if (decoded !== undefined) items.push(decoded);
  });
  return items;
}

function decodeOutputs(at: At): readonly StepOutput[] | undefined {
  if (!isRawMap(at.value)) {
    return refuse(at, "a map of names to expressions", "write each as name: expression");
  }
  const outputs: StepOutput[] = [];
  for (const [name, value] of Object.entries(at.value)) {
    const expression = decodeExpression({
      ...at,
      value,
      path: [...at.path, name],
      name: `the output "${name}"`,
    });
    if (expression) outputs.push({ name, value: expression });
  }
  return outputs;
}

/** Warns of unclosed braces in texts: they are plain text, probably by mistake. */
export function warnOfOpenBraces(problems: Problem[], value: unknown, path: Path): void {
  if (holdsTemplates(value)) warn(problems, value, path);
}

function warn(problems: Problem[], value: unknown, path: Path): void {
  if (typeof value === "string") {
    const start = value.lastIndexOf("{{");
    if (start < 0 || value.indexOf("}}", start) >= 0) return;
    addWarning(
      problems,
      "open-braces",
      path,
      '"{{" is never closed, so it is plain text',
      {
        range: { start, end: start + 2 },
        hint: "close the template, or write {{ '{{' }} for braces",
      },
    );
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => warn(problems, item, [...path, index]));
  } else if (typeof value === "object" && value !== null) {
    for (const [key, part] of Object.entries(value)) {
      warn(problems, part, [...path, key]);
    }
  }
}
