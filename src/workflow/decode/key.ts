import type { Parameter, ParameterProblem, ParameterType } from "../../action/parameter.ts";
import {
  type Form,
  list,
  map,
  NoValue,
  Param,
  parametersOf,
  Rule,
  type Shape,
  text,
  value,
} from "../../action/rule.ts";
import type { LoadedActions } from "../../actions/registry.ts";
import { hintForKey, otherKeys } from "../../base/other_tools.ts";
import type { Path } from "../../base/source.ts";
import { suggest } from "../../base/text/suggest.ts";
import { durationProblem, parseDuration } from "../../base/value/duration.ts";
import { describeValue, type Dict, isDict, typeName, type Value } from "../../base/value/value.ts";
import type { DataTemplate, Expression, NameRule, Template } from "../../expr/expression.ts";
import { holdsTemplate, isTemplate } from "../../expr/template.ts";
import type { Limits } from "../limits.ts";
import type { Assertion, Duration, Iteration, Load, Matrix, Step, StepOutput } from "../model.ts";
import {
  addError,
  addWarning,
  type Problem,
  type ProblemDetails,
  warnOfBraces,
} from "../problem.ts";
import { type Expressions, IN_STEP, seeing, seeingMatrix, seeingRound } from "./expressions.ts";

/** The shared state of decoding a workflow: its inputs and findings. */
export interface Decoding extends LoadedActions {
  readonly problems: Problem[];
  readonly limits: Limits;
  readonly expressions: Expressions;
  readonly late: LateRules;
  /** In steps that clean up: the names that their expressions see besides those of other steps. */
  readonly cleanupNames?: readonly string[];
  /** Values for `with` by action, under those of each job. */
  readonly defaults?: ReadonlyMap<string, Dict>;
  /** In a job with a matrix: the names of its values, where they are known. */
  readonly matrix?: { readonly names: readonly string[] | undefined };
  /** In a job with `load`, whose steps see its round. */
  readonly hasLoad?: boolean;
  /** In `load`: the steps of the job. */
  readonly steps?: readonly (Pick<Step, "id" | "name"> & Partial<Pick<Step, "action">>)[];
  /** In `load`: the members of the statistics of the steps of the job. */
  readonly stats?: NameRule["members"];
}

/** The rules of the keys that few files have, loaded for a file with such a key. */
export type LateRules = { readonly [K in keyof LateValues]?: Rule<LateValues[K]> };

interface LateValues {
  readonly iteration: Iteration;
  readonly load: Load;
  readonly matrix: { readonly matrix: Matrix; readonly names: readonly string[] | undefined };
}

/** The code of a key that the file format does not have. */
export const UNKNOWN_KEY = "unknown-key";

/** What is wrong with a key, besides the message. */
type KeyProblem = Partial<ParameterProblem> & Pick<ProblemDetails, "range"> & {
  readonly code?: string;
};

/** The path of a key of a document, the rule that reads it, and what its expressions see. */
export class Key extends Param {
  #map: Dict = {};

  constructor(
    readonly decoding: Decoding,
    path: Path = [],
    readonly form?: Form,
    readonly names: NameRule = IN_STEP,
    readonly around?: Key,
    problems: ParameterProblem[] = [],
  ) {
    super("", undefined, path, problems);
  }

  override get isEarly(): boolean {
    return false;
  }

  override get isDraft(): boolean {
    return true;
  }

  override get name(): string {
    const last = this.path.at(-1);
    if (typeof last === "string") return `"${last}"`;
    return this.form?.key?.what ?? `item ${Number(last) + 1} of "${this.path.at(-2)}"`;
  }

  override get what(): string {
    return this.form?.key?.what ?? this.name;
  }

  override of(key: string | number): Key {
    const { decoding, path, form, names, problems } = this;
    return new Key(decoding, [...path, key], form, names, this, problems);
  }

  override ruledBy(form: Form): Key {
    const { decoding, path, around, problems } = this;
    const names = form.key?.names ? namesIn(form.key.names, decoding) : this.names;
    return new Key(decoding, path, form, names, around, problems);
  }

  /** The same key, once more is known about the keys around it. */
  with(changes: Partial<Decoding>): Key {
    const { decoding, path, form, names, around, problems } = this;
    return new Key({ ...decoding, ...changes }, path, form, names, around, problems);
  }

  override wrong(
    message: string,
    hint?: string,
    { code = "type", at, path = this.path, range }: KeyProblem = {},
  ): NoValue {
    this.problems.push({ path, message });
    addError(this.decoding.problems, code, path, message, { hint, part: at, range });
    return new NoValue(message);
  }

  /** With a required value, an empty text or list is missing, too. */
  override isMissing(value: Value | undefined): boolean {
    if (value === undefined) return true;
    // The items of a list are read by their rule.
    return typeof this.path.at(-1) === "string" &&
      (value === null || Array.isArray(value) && value.length === 0 ||
        typeof value === "string" && value.trim() === "");
  }

  override missing(value: Value | undefined, { key }: Pick<Form, "key"> = {}): NoValue {
    const { around, path } = this;
    if (value !== undefined || !around) {
      return this.wrong(`${this.name} must not be empty`, undefined, { code: "empty" });
    }
    const hint = key?.whenMissing?.(around.#map);
    return around.wrong(`${around.what} needs "${path.at(-1)}"`, hint, { code: "missing" });
  }

  override hintForType(value: Value, [type]: readonly ParameterType[]): string | undefined {
    const key = this.path.at(-1);
    switch (type) {
      case "string":
        return isDict(value) ? "put the whole value in quotes" : undefined;
      case "integer":
        return isTemplate(value)
          ? "it cannot be a template: it must be known when loaded"
          : undefined;
      case "list":
        if (isDict(value)) return 'begin each item with "- "';
        if (isTemplate(value)) return "write the list out; its items may hold templates";
        return this.form?.key?.kind === "names" && value !== null && typeof value !== "boolean"
          ? `write ${key}: [${value}]`
          : undefined;
      case "map": {
        if (typeof value === "string" && /^[\w-]+:\u00A0/.test(value)) return NBSP;
        // `retry: 5` and `repeat: 5`, as other tools have it.
        const count = key === "retry" ? "max_attempts" : key === "repeat" ? "count" : undefined;
        if (count === undefined || typeof value !== "number") return undefined;
        return `write ${key}: { ${count}: ${value} }`;
      }
      default:
        return undefined;
    }
  }

  /** Reports unknown keys. Those that begin with `x-` hold anchors or notes. */
  override checkNames(map: Dict): boolean {
    this.#map = map;
    const { what, form: { fields = [] } = {} } = this;
    const names = fields.map(({ name }) => name);
    const unknown = Object.keys(map).filter((key) => !names.includes(key) && !isNote(key));
    if (unknown.length === 0) return true;
    const aliases = otherKeys(what).filter((key) =>
      hintForKey(what, key)?.startsWith("the key is")
    );
    const otherHint = emptyHint(map, fields) ?? 'a key for notes or anchors begins with "x-"';
    for (const key of unknown) {
      const known = hintForKey(what, key) ?? ownerHint(this, key);
      const near = known === undefined ? suggest(key, [...names, ...aliases]) : undefined;
      const hint = known ??
        (/^\s/.test(key)
          ? "it begins with a non-breaking space: indent with plain spaces"
          : /\s$/.test(key)
          ? "it ends with a non-breaking space: delete it"
          : near === undefined
          ? otherHint
          : hintForKey(what, near) ?? `did you mean "${near}"?`);
      this.of(key).wrong(`unknown key "${key}" in ${what}`, hint, { at: "key", code: UNKNOWN_KEY });
    }
    // The rest of the map is as good as without them.
    return true;
  }
}

const NBSP = 'a non-breaking space follows the ":": write a plain one';

/** Whether a key holds anchors or notes. */
export function isNote(key: string): boolean {
  return /^x[-_]/.test(key);
}

/** An unknown key may belong under an empty key above it, for example a bare `with:`. */
function emptyHint(map: Dict, fields: readonly Parameter[]): string | undefined {
  const empty = fields.find(({ name, type }) =>
    type === "map" && Object.hasOwn(map, name) && map[name] === null
  );
  return empty && `"${empty.name}" is empty: indent the keys that belong to it deeper than it`;
}

/** A hint for a key of the items of a list below, or of a map around. */
function ownerHint({ form, around }: Key, key: string): string | undefined {
  const owners = [...itemsBelow(form?.fields)];
  for (let outer = around; outer; outer = outer.around) if (outer.form) owners.push(outer.form);
  const owner = owners.find(({ key: { what } = {}, fields = [] }) =>
    what !== undefined && fields.some(({ name }) => name === key)
  );
  return owner && `"${key}" is a key of ${owner.key!.what}`;
}

function itemsBelow(fields: readonly Parameter[] = []): readonly Omit<Form, "fallback">[] {
  const items = fields.flatMap(({ key }) => key?.item ?? []);
  return [...items, ...items.flatMap(({ fields }) => itemsBelow(fields))];
}

/** The names that expressions see; in steps that clean up and with a matrix they are more. */
function namesIn(names: NameRule, decoding: Decoding): NameRule {
  const { cleanupNames = [], matrix, hasLoad, stats } = decoding;
  const seen = seeing(names, cleanupNames);
  const inRound = hasLoad && names.known?.includes("repeat_index") ? seeingRound(seen) : seen;
  const inMatrix = matrix ? seeingMatrix(inRound, matrix.names) : inRound;
  return stats && names.known?.includes("stats")
    ? { ...inMatrix, members: { ...inMatrix.members, ...stats } }
    : inMatrix;
}

/** Thrown if there is no value and the mistake is reported. */
export function isReported(): NoValue {
  return new NoValue("it is reported");
}

/** The value, or undefined if there is none. */
export function valueOr<T>(read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof NoValue)) throw error;
    return undefined;
  }
}

/** A rule of keys alone: those have templates and expressions, which are decoded for the run. */
export function rule<T>(
  form: Form,
  parse: (value: Value, key: Key) => T,
): Rule<T> {
  return new Rule(form, parse as Rule<T>["parse"]);
}

/** A key whose rule is one of `LateRules`; `key_tree.ts` knows all of its form. */
export function late<K extends keyof LateValues>(
  name: K,
  type: Form["type"],
  summary: string,
): Rule<LateValues[K]> {
  return rule({ type, summary }, (value, key) => {
    const loaded: Rule<LateValues[K]> = key.decoding.late[name]!;
    return loaded.parse(value, key.ruledBy(loaded.form));
  });
}

/** A map of which as much as possible is decoded; undefined where that is nothing. */
export function record<T>(
  shape: Shape,
  summary: string,
  decode: (map: Dict, key: Key) => T | undefined,
): Rule<T> {
  const base = value("map", summary);
  return rule({ ...base.form, fields: parametersOf(shape) }, (value, key) => {
    const decoded = decode(base.parse(value, key), key);
    if (decoded === undefined) throw isReported();
    return decoded;
  });
}

/** A text that may hold templates. */
export function template(summary: string, names?: NameRule): Rule<Template> {
  const base = text(summary);
  return rule({ ...base.form, key: { kind: "template", names } }, (value, key) => {
    const { expressions, problems } = key.decoding;
    const source = base.parse(value, key);
    warnOfBraces(problems, source, key.path);
    return expressions.template(source, key) ?? fail();
  });
}

function fail(): never {
  throw isReported();
}

/** An expression without braces. */
export function expression(summary: string, names?: NameRule): Rule<Expression> {
  return rule({ type: "string", summary, key: { kind: "expression", names } }, readExpression);
}

const LEAVE_OUT = "write an expression, or leave the key out";

function readExpression(value: Value, key: Key, name = key.name): Expression {
  const { decoding: { problems, expressions }, path } = key;
  if (typeof value === "object" && value !== null) {
    const message = `${name} must be an expression, not ${describeValue(value)}`;
    throw key.wrong(message, isDict(value) ? QUOTES : "join conditions with &&");
  }
  const source = value === null ? "" : String(value);
  if (source.trim() === "") throw key.wrong(`${name} is empty`, LEAVE_OUT, { code: "empty" });
  const expression = expressions.expression(source, key) ?? fail();
  if (expression.node.type === "SequenceExpression") {
    const { start, end } = expression.node.expressions[0]!;
    addWarning(problems, "lost-value", path, `the value before ";" is ignored`, {
      range: { start, end },
      hint: "join conditions with &&",
    });
  }
  return expression;
}

const QUOTES = "put the whole value in quotes";

/** An expression that must be true, or a list of them; each may have words of its own. */
export function assertions(
  summary: string,
  names?: NameRule,
): Rule<readonly Assertion[]> {
  const form: Form = {
    type: ["string", "list", "map"],
    summary,
    key: { kind: "assertions", names, mustHold: true, item: ASSERTION_MAP.form },
  };
  return rule(form, (value, key) => {
    if (!Array.isArray(value)) return [readAssertion(value, key)];
    if (value.length === 0) key.wrong(`${key.name} is empty`, LEAVE_OUT, { code: "empty" });
    return value.flatMap((item: Value, index) => {
      const assertion = valueOr(() => readAssertion(item, key.of(index)));
      return assertion ? { ...assertion, index } : [];
    });
  });
}

/** An assertion with words of its own; its expressions see what those of its key do. */
const ASSERTION = {
  that: expression("The expression that must be true.").key({ mustHold: true }).required(),
  says: template("A message, which reports show first if the expression is false."),
};

const ASSERTION_MAP = map(ASSERTION, "")
  .key({ what: "an assertion", title: "test and expect" }).required();

/** An expression, or a map of one and what it says. */
function readAssertion(value: Value, key: Key): Assertion {
  const { problems } = key.decoding;
  if (!isDict(value) || !Object.keys(ASSERTION).some((name) => Object.hasOwn(value, name))) {
    return { expression: refuseLiteral(readExpression(value, key), key.path, problems) ?? fail() };
  }
  const { that, says } = ASSERTION_MAP.read(value, key);
  const expression = refuseLiteral(that, [...key.path, "that"], problems) ?? fail();
  return { expression, isMap: true, says };
}

/**
 * Refuses a test that is a number, a text, a list or a map: it can never be true. Others are
 * returned.
 */
function refuseLiteral(
  test: Expression | undefined,
  path: Path,
  problems: Problem[],
): Expression | undefined {
  const node = test?.node.type === "UnaryExpression" && test.node.operator === "-"
    ? test.node.argument
    : test?.node;
  const type = node?.type === "Literal"
    ? typeName(node.value)
    : node?.type === "ArrayExpression"
    ? "array"
    : node?.type === "ObjectExpression"
    ? "map"
    : "bool";
  if (type === "bool") return test;
  const key = path.findLast((step) => typeof step === "string" && step !== "that");
  addError(problems, "type", path, `${key} must be true or false, it is ${type}`, {
    hint: "compare it with something",
  });
  return undefined;
}

/** Zero, for an omitted duration. */
export const NO_TIME: Duration = { kind: "constant", milliseconds: 0 };

/** A duration, or a template that gives one. */
export function time(summary: string, names: NameRule): Rule<Duration> {
  return rule({ type: "duration", summary, key: { names } }, (value, key): Duration => {
    if (typeof value === "string" && holdsTemplate(value)) {
      const template = key.decoding.expressions.template(value, key) ?? fail();
      // Braces without an end are text.
      if (template.parts.some((part) => typeof part !== "string")) {
        return { kind: "template", template };
      }
    }
    const milliseconds = parseDuration(value);
    if (milliseconds !== undefined) return { kind: "constant", milliseconds };
    const problem = typeof value === "object" ? undefined : durationProblem(value);
    const message = problem ?? `must be a duration, not ${describeValue(value)}`;
    throw key.wrong(`${key.name} ${message}`, undefined, { code: problem ? "duration" : "type" });
  });
}

/** A list of texts. */
export function names(summary: string): Rule<readonly string[]> {
  return list(text(""), summary).key({ kind: "names" });
}

/** A map whose values may hold templates. */
export function data(summary: string, names: NameRule): Rule<DataTemplate> {
  const base = value("map", summary).key({ kind: "data", names });
  return rule(base.form, (value, key) => {
    const { problems, expressions } = key.decoding;
    const map = base.parse(value, key);
    warnOfBraces(problems, map, key.path);
    return expressions.data(map, key);
  });
}

/** Expressions by name. */
export function outputs(summary: string, names: NameRule): Rule<readonly StepOutput[]> {
  const form: Form = { type: "map", summary, key: { kind: "outputs", names } };
  return rule(form, (value, key) => {
    if (!isDict(value)) {
      const message = `${key.name} must be a map of names to expressions`;
      throw key.wrong(
        `${message}, not ${describeValue(value)}`,
        "write each as name: expression",
      );
    }
    return Object.entries(value).flatMap(([name, value]) => {
      const title = `the output "${name}"`;
      const expression = valueOr(() => readExpression(value, key.of(name), title));
      return expression ? { name, value: expression } : [];
    });
  });
}

/** A text of a pattern; `form` is what it requires, for messages. */
export function pattern(pattern: RegExp, requirement: string, summary: string): Rule<string> {
  return text(summary).as((text, param) => {
    if (pattern.test(text)) return text;
    throw param.wrong(`${param.name} ${requirement}, not "${text}"`);
  }).key({ pattern, requirement });
}

/** A number with a limit that an environment variable sets. */
export function limited(
  number: Rule<number>,
  limit: (limits: Limits) => number,
  variable: string,
): Rule<number> {
  return number.as((number, param) => {
    const most = limit((param as Key).decoding.limits);
    if (number > most) {
      const message = `${param.name} must be at most ${most}, not ${number}`;
      param.wrong(message, `${variable} sets the limit`, { code: "limit" });
    }
    return number;
  });
}
