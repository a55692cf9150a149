import type { Value } from "../../value/value.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";

/** A function of the language: one that takes values, or one that runs a predicate over a list. */
export type FunctionRecord = ValueFunction | ListFunction;

interface Described {
  readonly name: string;
  /** How it is called, as the manual shows it: `split(text: string, separator: string)`. */
  readonly signature: string;
  /** What it gives, in one sentence. */
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  /** Loads what it needs; called when a workflow that uses it is loaded. */
  readonly load?: () => Promise<void>;
  /** The argument that is checked before the run where it is a constant string. */
  readonly constant?: ConstantArgument;
  /** Whether a `let` may have its name. */
  readonly mayBeHidden?: true;
  /** The fewest and the most arguments that it takes. */
  readonly least: number;
  readonly most: number;
}

export interface ConstantArgument {
  readonly position: number;
  /** What is wrong with it, or nothing. */
  readonly problem: (text: string) => string | undefined;
}

export interface ValueFunction extends Described {
  readonly kind: "value";
  readonly call: (run: Evaluation, ...args: never[]) => Value;
}

export interface ListFunction extends Described {
  readonly kind: "list";
  readonly call: (run: Evaluation, list: readonly Value[], loop: Loop) => Value;
}

/** What a list function is given beside its list. */
export interface Loop {
  /** The value of the predicate for an item; the item itself where there is no predicate. */
  readonly each: (item: Value, index: number) => Value;
  /** The truth of it. */
  readonly test: (item: Value, index: number) => boolean;
  /** The argument after the predicate, if there is one. */
  readonly extra?: Value;
}

export interface Parameter {
  readonly name: string;
  readonly type: ParameterType;
  readonly optional: boolean;
  /** Whether it takes all arguments from here on. */
  readonly rest: boolean;
}

export type ParameterType =
  | "any"
  | "string"
  | "number"
  | "integer"
  | "list"
  | "map"
  | "predicate";

/** Describes a function by its signature; the types of the arguments are checked before a call. */
export function define(
  signature: string,
  summary: string,
  call: ValueFunction["call"],
): ValueFunction {
  return { kind: "value", ...readSignature(signature), summary, call };
}

/** The same for a name that workflows may already use for a `let`, which hides the function. */
export function defineNew(
  signature: string,
  summary: string,
  call: ValueFunction["call"],
  load?: () => Promise<void>,
  constant?: ConstantArgument,
): ValueFunction {
  return {
    ...define(signature, summary, call),
    mayBeHidden: true,
    ...load ? { load } : {},
    ...constant ? { constant } : {},
  };
}

/** Describes a function that runs a predicate over the items of a list. */
export function defineLoop(
  signature: string,
  summary: string,
  call: ListFunction["call"],
): ListFunction {
  return { kind: "list", ...readSignature(signature), summary, call };
}

function readSignature(signature: string): Omit<Described, "summary"> {
  const open = signature.indexOf("(");
  const inner = signature.slice(open + 1, -1);
  const parameters = inner === "" ? [] : inner.split(", ").map(readParameter);
  return {
    name: signature.slice(0, open),
    signature,
    parameters,
    least: parameters.filter(({ optional }) => !optional).length,
    most: parameters.at(-1)?.rest ? Infinity : parameters.length,
  };
}

/** `name: type`, with `?` after an optional name and `...` before a repeated one. */
function readParameter(text: string): Parameter {
  const [written = "", type = written] = text.split(": ");
  return {
    name: written.replace(/^\.\.\.|\?$/g, ""),
    type: type.replace("?", "") as ParameterType,
    optional: written.endsWith("?"),
    rest: written.startsWith("..."),
  };
}
