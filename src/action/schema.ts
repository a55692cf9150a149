import { holdsTemplates, isTemplate } from "../expr/template/template_data.ts";
import { didYouMean } from "../base/text/suggest.ts";
import { describeValue, isDict } from "../base/value/value.ts";
import type {
  Dict,
  HideSecrets,
  Parameter,
  ParameterProblem,
  SecretSink,
  Value,
} from "./action.ts";
import { type Converted, convertParameter, hintForKey, isGiven, typeText } from "./parameters.ts";

/**
 * What a parameter must be. The same rule checks it when a workflow is loaded, gives `run` its
 * typed value, and is listed in documents, editors and the JSON Schema. `M` is what `run` gets
 * where the step leaves it out.
 */
export class Rule<T, M = undefined> {
  /** `parse` turns a value into what `run` gets, or throws what `param.wrong()` returns. */
  constructor(readonly form: Form, readonly parse: (value: Value, param: Param) => T) {}

  /** What `run` gets for a parameter, given or not. Throws `NoValue`. */
  read(value: Value | undefined, param: Param): T | M {
    const { fallback, required, summary } = this.form;
    if (value === undefined || value === null) {
      if (required) throw param.missing(value, summary);
      return fallback as M;
    }
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

/** Rules by the name of the parameter. */
export type Shape = Readonly<Record<string, Rule<unknown, unknown>>>;

/** What `run` gets: the values of a shape. */
export type Values<S extends Shape> = {
  readonly [K in keyof S]: S[K] extends Rule<infer T, infer M> ? T | M : never;
};

/** There is no value: it is wrong, or a template decides it in the run. */
export class NoValue extends Error {}

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

  /** A part of it. */
  of(key: string | number): Param {
    return new Param(this.action, this.secrets, [...this.path, key], this.problems);
  }

  /** Notes what is wrong; throw the result where there is no value. */
  wrong(message: string, hint?: string, details: Partial<ParameterProblem> = {}): NoValue {
    this.problems.push({ path: this.path, message, ...hint !== undefined && { hint }, ...details });
    return new NoValue(message);
  }

  /** Notes that there is no value; throw the result. */
  missing(value: null | undefined, summary: string): NoValue {
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
    throw param.wrong(`${param.name} must be ${typeText(types)}, not ${describeValue(value)}`);
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
  { min = -Infinity, max = Infinity }: { readonly min?: number; readonly max?: number } = {},
): Rule<number> {
  return value("integer", summary).as((number, param) => {
    if (number >= min && number <= max) return number;
    const bound = number < min ? `at least ${min}` : `at most ${max}`;
    throw param.wrong(`${param.name} must be ${bound}, not ${number}`);
  });
}

/** One of some texts. */
export function choice<const V extends string>(values: readonly V[], summary: string): Rule<V> {
  return text(summary).as((entered, param) => {
    const known = values.find((one) => one === entered);
    if (known !== undefined) return known;
    const hint = didYouMean(entered, values) ?? `${param.name} is one of ${values.join(", ")}`;
    throw param.wrong(`invalid value "${entered}" for ${param.name}`, hint);
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
    ...type === "map" && fields && { items: fields },
    ...hide && { hide: hideItems },
  }, (value, param) => {
    const items = base.parse(value, param).map((one, index) => [index, one] as const);
    const { values, isWhole } = readEach(items, item.required(), param);
    if (!isWhole) throw new NoValue("it has an item that is none");
    return values;
  });
}

/** A map with these keys; with `oneField`, it has exactly one of them. */
export function map<S extends Shape>(
  shape: S,
  summary: string,
  { oneField }: { readonly oneField?: true } = {},
): Rule<Values<S>> {
  const base = value("map", summary);
  const fields = parametersOf(shape);
  const hide: HideSecrets = (value, mask) => isDict(value) ? hideIn(value, fields, mask) : value;
  return new Rule({
    ...base.form,
    fields,
    ...oneField && { oneField },
    ...fields.some(({ hide }) => hide) && { hide },
  }, (value, param) => {
    const dict = base.parse(value, param);
    const { values, isWhole } = readFields(shape, dict, param);
    if (oneField) checkOneField(Object.keys(shape), dict, param);
    if (!isWhole) throw new NoValue("it has a field that is none");
    return values as Values<S>;
  });
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

/** The values of a map that fit, and whether all do. */
export function readFields<S extends Shape>(
  shape: S,
  map: Dict,
  param: Param,
): { readonly values: Partial<Values<S>>; readonly isWhole: boolean } {
  const unknown = Object.keys(map).filter((key) => !Object.hasOwn(shape, key));
  for (const key of unknown) {
    const message = param.path.length === 0
      ? `unknown parameter "${key}" of ${param.name}`
      : `unknown key "${key}" in ${param.name}`;
    const names = Object.keys(shape);
    const hint = (param.path.length === 0 ? hintForKey(names, key) : didYouMean(key, names)) ??
      `${param.name} takes ${names.join(", ")}`;
    param.of(key).wrong(message, hint, { at: "key" });
  }
  const values: Record<string, unknown> = {};
  let isWhole = unknown.length === 0;
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
function readEach<T, M>(
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
