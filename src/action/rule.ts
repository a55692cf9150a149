import { holdsTemplates, isTemplate } from "../expr/template.ts";
import { didYouMean } from "../base/text/suggest.ts";
import { hintForIso } from "../base/value/duration.ts";
import { describeValue, isDict } from "../base/value/value.ts";
import type { Dict, SecretSink, Value } from "./action.ts";
import {
  type Alternatives,
  type Converted,
  convertParameter,
  type HideSecrets,
  hintForKey,
  isGiven,
  type KeyForm,
  type Parameter,
  type ParameterProblem,
  type ParameterType,
  textOf,
  typeText,
} from "./parameter.ts";
import { withoutPassword } from "../secrets/secrets.ts";

/**
 * What a parameter of an action, or a key of the file format, must be. The same rule checks it when
 * a workflow is loaded, gives `run` or the decoder its typed value, and is listed in documents,
 * editors and the JSON Schema. `M` is the value where it is left out.
 */
export class Rule<T, M = undefined> {
  /** `parse` turns a value into what `run` gets, or throws what `param.wrong()` returns. */
  constructor(readonly form: Form, readonly parse: (value: Value, param: Param) => T) {}

  /** The value, given or not. Throws `NoValue`. */
  read(value: Value | undefined, outer: Param): T | M {
    const { fallback, required } = this.form;
    const param = outer.ruledBy(this.form);
    if (required && param.isMissing(value)) throw param.missing(value, this.form);
    const isAbsent = value === null && !required && !isCondition(this.form);
    if (value === undefined || isAbsent) return fallback as M;
    if (param.isEarly && isTemplate(value)) throw new NoValue("it is known in the run");
    return this.parse(value, param);
  }

  /** A step must give it, and it must not be nil. */
  required(): Rule<T, never> {
    return this.#with<never>({ required: true });
  }

  /** The value when it is left out; `text` is how documents show it. */
  default(fallback: T, text: string = String(fallback)): Rule<T, T> {
    return this.#with<T>({ fallback, default: text });
  }

  /** Turns the value into what `run` works with; while it has a template in it, that waits. */
  as<U>(parse: (value: T, param: Param) => U): Rule<U> {
    return new Rule(this.form, (value, param) => {
      const parsed = this.parse(value, param);
      if (param.isEarly && holdsTemplates(value)) throw new NoValue("it is known in the run");
      return parse(parsed, param);
    });
  }

  /** The whole text is a secret. */
  secret(): Rule<T> {
    return this.as((value, param) => (param.secrets?.add(String(value)), value))
      .with({ hide: (value, mask) => isTemplate(value) ? value : mask });
  }

  /** Changes the form, such as what reports hide, or how documents show the default. */
  with(changes: Partial<Form>): Rule<T, M> {
    return this.#with<M>(changes);
  }

  /**
   * Adds to what the rule says about a key of the file format.
   *
   * @ignore
   */
  key(changes: KeyForm): Rule<T, M> {
    return this.#with<M>({ key: { ...this.form.key, ...changes } });
  }

  #with<N>(changes: Partial<Form>): Rule<T, N> {
    return new Rule({ ...this.form, ...changes }, this.parse);
  }
}

/** A parameter as it is listed, and its default. */
export interface Form extends Omit<Parameter, "name" | "required"> {
  /** Whether a step must give it. */
  readonly required?: boolean;
  /** What `run` gets where the step leaves it out. */
  readonly fallback?: unknown;
}

/** Whether a key without a value is a mistake: its condition was probably commented out. */
export function isCondition({ key }: Pick<Parameter, "key">): boolean {
  return key?.kind === "expression" || key?.kind === "assertions";
}

/** Rules by the name of the parameter. */
export type Shape = Readonly<Record<string, Rule<unknown, unknown>>>;

/** What `run` gets: the values of a shape. */
export type Values<S extends Shape> = {
  readonly [K in keyof S]: S[K] extends Rule<infer T, infer M> ? T | M : never;
};

/** There is no value: it is wrong, or a template decides it in the run. */
export class NoValue extends Error {}

const NO_FORM = { summary: "" };

/** Why a parameter that was checked early is nil in a run. */
const NIL = "what its template reads is not there";

/** The path of a value in `with`, and the problems that were found there. */
export class Param {
  /** `action` is the name of the action. */
  constructor(
    readonly action: string,
    /** Takes the secrets of a run; absent while the workflow is loaded. */
    readonly secrets?: Pick<SecretSink, "add">,
    readonly path: ParameterProblem["path"] = [],
    readonly problems: ParameterProblem[] = [],
  ) {}

  /** Whether templates are not rendered yet. */
  get isEarly(): boolean {
    return this.secrets === undefined;
  }

  /** As messages name it: `redis`, `"tls"`, `"actions[2].selector"`. */
  get name(): string {
    const parts = this.path.map((part) => typeof part === "number" ? `[${part}]` : `.${part}`);
    return parts.length === 0 ? this.action : `"${parts.join("").slice(1)}"`;
  }

  /** As messages name it when it lacks a part, or has one that is unknown. */
  get what(): string {
    return this.name;
  }

  /** A part of it. */
  of(key: string | number): Param {
    return new Param(this.action, this.secrets, [...this.path, key], this.problems);
  }

  /** The parameter, where a rule with that form reads it. */
  ruledBy(_form: Form): Param {
    return this;
  }

  /** Whether a value is none, which a required parameter must not be. */
  isMissing(value: Value | undefined): boolean {
    return value === undefined || value === null;
  }

  /** A hint for a value that has none of the types. */
  hintForType(_value: Value, _types: readonly ParameterType[]): string | undefined {
    return undefined;
  }

  /** Whether as much as possible is read, although there are mistakes. */
  get isDraft(): boolean {
    return false;
  }

  /** Reports the keys of a map that are none of these; whether there are no others. */
  checkNames(map: Dict, names: readonly string[]): boolean {
    const unknown = Object.keys(map).filter((key) => !names.includes(key));
    for (const key of unknown) {
      const message = this.path.length === 0
        ? `unknown parameter "${key}" of ${this.name}`
        : `unknown key "${key}" in ${this.name}`;
      const hint = (this.path.length === 0 ? hintForKey(names, key) : didYouMean(key, names)) ??
        `${this.name} takes ${names.join(", ")}`;
      this.of(key).wrong(message, hint, { at: "key" });
    }
    return unknown.length === 0;
  }

  /** Notes what is wrong; throw the result if there is no value. `code` is for tools. */
  wrong(
    message: string,
    hint?: string,
    { code: _, ...details }: Partial<ParameterProblem> & { readonly code?: string } = {},
  ): NoValue {
    this.problems.push({ path: this.path, message, ...hint !== undefined && { hint }, ...details });
    return new NoValue(message);
  }

  /** Notes that there is no value; throw the result. */
  missing(value: Value | undefined, { summary }: Pick<Form, "summary" | "key"> = NO_FORM): NoValue {
    if (!this.isEarly && (value === null || this.path.length === 1)) {
      return this.wrong(`${this.name} is nil`, NIL);
    }
    const around = new Param(this.action, this.secrets, this.path.slice(0, -1));
    const path = value === null ? this.path : around.path;
    return this.wrong(`${around.name} needs "${this.path.at(-1)}"`, summary, { path });
  }
}

/** A value of one of these types, converted from text where it is text. */
export function value<T extends keyof Converted>(
  type: T | readonly T[],
  summary: string,
): Rule<Converted[T]> {
  const types = [type].flat() as readonly T[];
  return new Rule({ type, summary }, (value, param) => {
    for (const type of types) {
      const converted = convertParameter(type, value);
      if (converted !== undefined) return converted;
    }
    const message = `${param.name} must be ${typeText(types)}, not ${describeValue(value)}${
      types.some((type) => type === "duration") ? hintForIso(value) : ""
    }`;
    throw param.wrong(message, param.hintForType(value, types));
  });
}

/** A text. */
export const text = (summary: string): Rule<string> => value("string", summary);

/** `true` or `false`. */
export const flag = (summary: string): Rule<boolean> => value("boolean", summary);

/** A duration like `300ms` or `1h30m`, or a number of seconds; in milliseconds. */
export const duration = (summary: string): Rule<number> => value("duration", summary);

/** A whole number in a range. */
export function integer(
  summary: string,
  range: { readonly min?: number; readonly max?: number } = {},
): Rule<number> {
  return within(range, value("integer", summary));
}

/** A number in a range. */
export function within(
  { min = -Infinity, max = Infinity }: { readonly min?: number; readonly max?: number },
  rule: Rule<number>,
): Rule<number> {
  const checked = rule.as((number, param) => {
    if (number >= min && number <= max) return number;
    const bound = number > max ? `at most ${max}` : min === 0 ? "0 or greater" : `at least ${min}`;
    const message = `${param.name} must be ${bound}, not ${number}`;
    const refused = param.wrong(message, undefined, { code: "range" });
    if (!param.isDraft) throw refused;
    return number;
  });
  return min === -Infinity ? checked : checked.with({ minimum: min });
}

/** One of some texts. */
export function choice<const V extends string>(values: readonly V[], summary: string): Rule<V> {
  return text(summary).as((entered, param) => {
    const known = values.find((one) => one === entered);
    if (known !== undefined) return known;
    const hint = didYouMean(entered, values) ?? `${param.name} is one of ${values.join(", ")}`;
    const message = `invalid value "${entered}" for ${param.name}`;
    throw param.wrong(message, hint, { code: "choice" });
  }).with({ values });
}

/** A list; everything that is wrong with its items is reported at once. */
export function list<T>(item: Rule<T>, summary: string): Rule<readonly T[]> {
  const base = value("list", summary);
  const { hide, fields, type } = item.form;
  const hideItems: HideSecrets = (value, mask) =>
    Array.isArray(value) && hide ? value.map((one) => hide(one, mask)) : value;
  return new Rule({
    ...base.form,
    items: type === "map" ? fields : undefined,
    key: item.form.key && { item: item.form },
    hide: hide && hideItems,
  }, (value, param) => {
    const items = base.parse(value, param).map((one, index) => [index, one] as const);
    const { values, isWhole } = readEach(items, item.required(), param);
    if (!isWhole && !param.isDraft) throw new NoValue("it has an item that is none");
    return values;
  });
}

/** How the keys of a map depend on each other. */
export interface Relations<S extends Shape> {
  /** Keys that exclude each other. */
  readonly alternatives?: readonly Alternatives[];
  /** The keys that have an effect with some of the alternatives alone. */
  readonly onlyWith?: Readonly<Record<string, readonly string[]>>;
  /**
   * Reports keys that do not fit together. A value that is not known yet is undefined; `raw` tells
   * whether it is given.
   */
  readonly check?: (values: Partial<Values<S>>, param: Param, raw: Dict) => unknown;
}

/** A map with these keys; with `oneField`, it has exactly one of them. */
export function map<S extends Shape>(
  shape: S,
  summary: string,
  { oneField, ...relations }: Relations<S> & { readonly oneField?: true } = {},
): Rule<Values<S>> {
  const base = value("map", summary);
  const fields = parametersOf(shape);
  const hide: HideSecrets = (value, mask) => isDict(value) ? hideIn(value, fields, mask) : value;
  return new Rule({
    ...base.form,
    fields,
    oneField,
    alternatives: relations.alternatives,
    hide: fields.some(({ hide }) => hide) ? hide : undefined,
  }, (value, param) => {
    const dict = base.parse(value, param);
    const { values, isWhole } = readFields(shape, dict, param);
    const before = param.problems.length;
    if (oneField) checkOneField(Object.keys(shape), dict, param);
    checkRelations(relations, values, dict, param);
    const isEnough = isWhole || param.isDraft && hasWhatItNeeds(shape, values, relations);
    if (!isEnough || param.problems.length > before) throw new NoValue("a field does not fit");
    return values as Values<S>;
  });
}

function hasWhatItNeeds<S extends Shape>(
  shape: S,
  values: Partial<Values<S>>,
  { alternatives = [] }: Relations<S>,
): boolean {
  const has = (name: string) => values[name] !== undefined;
  return Object.keys(shape).every((name) => !shape[name]!.form.required || has(name)) &&
    alternatives.every(({ names, required }) => !required || names.some(has));
}

/** The code of keys that do not go together. */
export const COMBINATION = "combination";

/** Reports keys that exclude each other, and keys without an effect. */
export function checkRelations<S extends Shape>(
  { alternatives = [], onlyWith = {}, check }: Relations<S>,
  values: Partial<Values<S>>,
  raw: Dict,
  param: Param,
): void {
  for (const { names, required, mayCombine, hint } of alternatives) {
    const [first, second] = names.filter((name) => isGiven(raw, name));
    if (second !== undefined && !mayCombine) {
      const message = `"${first}" and "${second}" cannot be combined`;
      param.of(second).wrong(message, hint, { at: "key", code: COMBINATION });
    } else if (first === undefined && required) {
      const empty = names.find((name) => raw[name] === null);
      const quoted = names.map((name) => `"${name}"`);
      const message = `${param.what} needs ${quoted.slice(0, -1).join(", ")} or ${quoted.at(-1)}`;
      if (empty !== undefined && !param.isEarly) param.of(empty).missing(null);
      else param.wrong(message, hint, { code: "missing" });
    }
  }
  const [given, other] = alternatives.flatMap(({ names }) => names)
    .filter((name) => isGiven(raw, name));
  for (const [key, kinds] of Object.entries(onlyWith)) {
    if (given === undefined || other || !Object.hasOwn(raw, key) || kinds.includes(given)) continue;
    const message = `"${key}" has no effect with "${given}"`;
    param.of(key).wrong(message, undefined, { at: "key", code: COMBINATION });
  }
  check?.(values, param, raw);
}

/** A map with any keys. `checkKey` reports those that it may not have. */
export function mapOf<T, M>(
  item: Rule<T, M>,
  summary: string,
  checkKey?: (key: string, param: Param) => unknown,
): Rule<Readonly<Record<string, T | M>>> {
  const base = value("map", summary);
  return new Rule(base.form, (value, param) => {
    const entries = Object.entries(base.parse(value, param));
    for (const [key] of entries) checkKey?.(key, param.of(key));
    const { values, isWhole } = readEach(entries, item, param);
    if (!isWhole) throw new NoValue("it has a value that is none");
    return Object.fromEntries(entries.map(([key], index) => [key, values[index]!]));
  });
}

/** The first of two rules if a value is of its type, or else the second. */
export function either<A, B>(first: Rule<A>, second: Rule<B>): Rule<A | B> {
  const types = [first.form.type].flat();
  const base = value([...types, second.form.type].flat(), first.form.summary);
  return new Rule<A | B>({ ...second.form, ...first.form, ...base.form }, (value, param) => {
    base.parse(value, param);
    const fits = types.some((type) => convertParameter(type, value) !== undefined);
    return (fits ? first : second).parse(value, param);
  });
}

function checkOneField(names: readonly string[], map: Dict, param: Param): void {
  const present = names.filter((name) => isGiven(map, name));
  if (present.length === 1 || Object.keys(map).some((name) => !names.includes(name))) return;
  if (present.length === 0) {
    param.wrong(`${param.name} has none of its keys`, `give one of ${names.join(", ")}`);
  } else {
    const both = present.map((name) => `"${name}"`).join(" and ");
    param.wrong(`${param.name} has ${both}, which cannot be combined`, "keep one of them");
  }
}

function hideIn(map: Dict, fields: readonly Parameter[], mask: string): Dict {
  const hideable = fields.filter(({ name, hide }) => hide && (map[name] ?? null) !== null);
  const hidden = hideable.map(({ name, hide }) => [name, hide!(map[name]!, mask)] as const);
  return { ...map, ...Object.fromEntries(hidden) };
}

/** The values of a map that fit, and whether all do; reports the keys that it may not have. */
export function readFields<S extends Shape>(
  shape: S,
  map: Dict,
  param: Param,
): { readonly values: Partial<Values<S>>; readonly isWhole: boolean } {
  const hasOnlyKnown = param.checkNames(map, Object.keys(shape));
  const { values, isWhole } = readKnownFields(shape, map, param);
  return { values, isWhole: hasOnlyKnown && isWhole };
}

/** The same; other keys are ignored. */
export function readKnownFields<S extends Shape>(
  shape: S,
  map: Dict,
  param: Param,
): { readonly values: Partial<Values<S>>; readonly isWhole: boolean } {
  const values: Record<string, unknown> = {};
  let isWhole = true;
  for (const name of Object.keys(shape)) {
    const rule = shape[name]!;
    const value = Object.hasOwn(map, name) ? map[name] : undefined;
    // Most of many parameters are left out.
    if (value === undefined && !rule.form.required) {
      values[name] = rule.form.fallback;
      continue;
    }
    const read = readEach([[name, value]], rule, param);
    values[name] = read.values[0];
    isWhole &&= read.isWhole;
  }
  return { values: values as Partial<Values<S>>, isWhole };
}

/** Reads all values, so that everything wrong with them is found; leaves out what does not fit. */
export function readEach<T, M>(
  values: readonly (readonly [key: string | number, value: Value | undefined])[],
  rule: Rule<T, M>,
  param: Param,
): { readonly values: (T | M)[]; readonly isWhole: boolean } {
  const fit: (T | M)[] = [];
  for (const [key, value] of values) {
    try {
      fit.push(rule.read(value, param.of(key)));
    } catch (error) {
      if (!(error instanceof NoValue)) throw error;
    }
  }
  return { values: fit, isWhole: fit.length === values.length };
}

/** The table that documents, editors and the JSON Schema are made of. */
export function parametersOf(shape: Shape): Parameter[] {
  return Object.entries(shape).map(([name, { form }]) => {
    const { required, fallback: _, ...rest } = form;
    return { name, ...rest, ...required && { required } };
  });
}

/** A name or an address, without a port. */
export const host = (summary = "The host or address"): Rule<string> =>
  text(summary).as((host, param) => {
    // An address of IPv6 has two colons at least.
    if (host !== "" && !/[\s\p{Cc}/@[\]]|^[^:]*:[^:]*$/u.test(host)) return host;
    const hint = "write a name or an address; the port has its own key";
    throw param.wrong(`invalid host "${withoutPassword(host)}"`, hint);
  });

/** A port. */
export const port = (summary = "The port"): Rule<number> =>
  integer(summary).as((port, param) => {
    if (port >= 1 && port <= 65_535) return port;
    throw param.wrong(`invalid port ${port}`, "ports are 1 to 65535");
  });

/** A text, or a list of texts; anything that is not text is sent as JSON. */
export const texts = (summary: string): Rule<readonly string[]> =>
  value(["string", "list"], summary).as((value) =>
    [value].flat().map((one) => one === null ? "" : textOf(one))
  );

/** A bare expression that is evaluated for each of these; undefined where it is left out. */
export const condition = (summary: string, ...names: readonly string[]) =>
  text(summary).as((source, param) => {
    if (source.trim() !== "") return source;
    throw param.wrong(`${param.name} is empty`, "write an expression, or leave it out");
  }).with({ expression: names });

/** `timeout`, which the seam applies once it is the step's turn. */
export const timeout = (
  summary: string,
  milliseconds = 0,
  inDocuments = "the timeout of the step",
): { readonly timeout: Rule<number, number> } => ({
  timeout: duration(summary).default(milliseconds, inDocuments),
});

/** `connection` and `fresh`, which decide whether steps share a connection. */
export const sharing = (
  what: string,
  each: string,
): { readonly connection: Rule<string, string>; readonly fresh: Rule<boolean, boolean> } => ({
  connection: text(`A name under which all jobs of the run share the ${what}`)
    .default("", `one for each ${each}`),
  fresh: flag("Whether to open a connection only for this step").default(false),
});
