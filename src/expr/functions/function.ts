import type { Mismatch } from "../../base/value/mismatch.ts";
import type { Value } from "../../base/value/value.ts";
import type { SchemaDocument } from "../json_schema/validator.ts";
import type { CallExpression, Node } from "../parse/ast.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";

/** A function of the language: one that takes values, or one that runs a predicate over a list. */
export type FunctionRecord = ValueFunction | ListFunction;

interface Described {
  readonly name: string;
  /** The signature, as the manual shows it: `split(text: string, separator: string)`. */
  readonly signature: string;
  /** Its result, in one sentence. */
  readonly summary: string;
  readonly parameters: readonly FunctionParameter[];
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
  /** Its problem; undefined if there is none. */
  readonly problem: (text: string) => string | undefined;
  /** Whether all constant strings in a list or map that is written there are checked. */
  readonly isDeep?: true;
}

export interface ValueFunction extends Described {
  readonly kind: "value";
  readonly call: (run: Evaluation, ...args: never[]) => Value;
  /**
   * Prepares a call when its workflow is loaded: reads the files that it names, and loads what it
   * needs. Gives what is wrong with the call.
   */
  readonly prepare?: (call: CallExpression, files: FilesOfCalls) => Promise<Mistake | undefined>;
  /** Every reason why a call with these arguments is false; its first argument is what was received. */
  readonly mismatches?: (run: Evaluation, ...args: never[]) => readonly Mismatch[];
}

/** The files that calls may name, relative to the file of the call. */
export interface FilesOfCalls {
  /** A schema and those that it refers to. Throws SchemaFault. */
  readonly readSchema: (path: string) => Promise<SchemaFiles>;
}

/** A schema and those that it refers to. */
export interface SchemaFiles {
  readonly root: SchemaDocument;
  readonly others: readonly SchemaDocument[];
}

/** The problem of an argument of a call. */
export interface Mistake {
  readonly node: Node;
  readonly message: string;
  readonly hint?: string;
}

export interface ListFunction extends Described {
  readonly kind: "list";
  readonly call: (run: Evaluation, list: readonly Value[], loop: ListLoop) => Value;
}

/** The tools of a list function besides its list. */
export interface ListLoop {
  /** The value of the predicate for an item; the item itself where there is no predicate. */
  readonly each: (item: Value, index: number) => Value;
  /** The truth of it. */
  readonly test: (item: Value, index: number) => boolean;
  /** The argument after the predicate, if there is one. */
  readonly extra?: Value;
}

export interface FunctionParameter {
  readonly name: string;
  readonly type: FunctionParameterType;
  readonly optional: boolean;
  /** Whether it takes all arguments from here on. */
  readonly rest: boolean;
}

export type FunctionParameterType =
  | "any"
  | "string"
  | "number"
  | "integer"
  | "int64"
  | "list"
  | "map"
  | "predicate";

/** Describes a function by its signature; the types of the arguments are checked before a call. */
export function define(
  signature: string,
  summary: string,
  call: ValueFunction["call"],
): ValueFunction {
  return Object.assign(describe(signature), { kind: "value" as const, summary, call });
}

/** The same for a name that workflows may already use for a `let`, which hides the function. */
export function defineNew(
  signature: string,
  summary: string,
  call: ValueFunction["call"],
  load?: () => Promise<void>,
  constant?: ConstantArgument,
): ValueFunction {
  return Object.assign(define(signature, summary, call), {
    mayBeHidden: true as const,
    ...load ? { load } : {},
    ...constant ? { constant } : {},
  });
}

/** The code of a function that is loaded with the first workflow that uses it. */
export interface FunctionCode {
  readonly call: ValueFunction["call"];
  /** The problem of its constant argument. */
  readonly problem?: ConstantArgument["problem"];
}

/** The same for a function whose code few workflows need; the position is that of the constant. */
export function defineLoaded(
  signature: string,
  summary: string,
  load: () => Promise<FunctionCode>,
  position?: number,
): ValueFunction {
  let code: FunctionCode | undefined;
  const call = (run: Evaluation, ...args: readonly never[]) => {
    if (!code) throw new Error(`${signature} is not loaded`);
    return code.call(run, ...args);
  };
  const loadCode = async () => {
    code ??= await load();
  };
  if (position === undefined) return defineNew(signature, summary, call, loadCode);
  const problem = (text: string) => code?.problem?.(text);
  return defineNew(signature, summary, call, loadCode, { position, problem });
}

/** Describes a function that runs a predicate over the items of a list. */
export function defineLoop(
  signature: string,
  summary: string,
  call: ListFunction["call"],
): ListFunction {
  return Object.assign(describe(signature), { kind: "list" as const, summary, call });
}

/** What a signature says. Its parameters are read when a call needs them: few runs use many. */
function describe(signature: string): Omit<Described, "summary"> {
  const open = signature.indexOf("(");
  let known: Pick<Described, "parameters" | "least" | "most"> | undefined;
  const read = () => known ??= readParameters(signature.slice(open + 1, -1));
  return {
    name: signature.slice(0, open),
    signature,
    get parameters() {
      return read().parameters;
    },
    get least() {
      return read().least;
    },
    get most() {
      return read().most;
    },
  };
}

function readParameters(inner: string): Pick<Described, "parameters" | "least" | "most"> {
  const parameters = inner === "" ? [] : inner.split(", ").map(readParameter);
  return {
    parameters,
    least: parameters.filter(({ optional }) => !optional).length,
    most: parameters.at(-1)?.rest ? Infinity : parameters.length,
  };
}

/** `name: type`, with `?` after an optional name and `...` before a repeated one. */
function readParameter(text: string): FunctionParameter {
  const [written = "", type = written] = text.split(": ");
  return {
    name: written.replace(/^\.\.\.|\?$/g, ""),
    type: type.replace("?", "") as FunctionParameterType,
    optional: written.endsWith("?"),
    rest: written.startsWith("..."),
  };
}
