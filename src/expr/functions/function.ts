import type { Mismatch } from "../../base/value/difference.ts";
import { isDict, isNumber, type Value } from "../../base/value/value.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { kindOf } from "../fault.ts";
import type { SchemaDocument } from "../json_schema/validator.ts";
import type { CallExpression, Node } from "../parse/ast.ts";

/** A function of the language as it is written: enough to read and to check a call. */
export class FunctionRecord {
  readonly name: string;
  readonly #group: FunctionModule;
  #module: ReturnType<FunctionModule> | undefined;
  #parameters: readonly FunctionParameter[] | undefined;
  #body: FunctionBody | undefined;

  constructor(
    /** The signature, as the manual shows it: `split(text: string, separator: string)`. */
    readonly signature: string,
    /** Imports the module with its body. */
    group: FunctionModule,
    /** Whether a `let` may have its name, as workflows may use the name for one. */
    readonly mayBeHidden: boolean,
  ) {
    this.name = signature.slice(0, signature.indexOf("("));
    this.#group = group;
  }

  /** Read when somebody asks for them: a run calls few functions. */
  get parameters(): readonly FunctionParameter[] {
    const inside = this.signature.slice(this.name.length + 1, -1);
    return this.#parameters ??= inside === "" ? [] : inside.split(", ").map(readParameter);
  }

  /** The fewest arguments that it takes. */
  get minArguments(): number {
    return this.parameters.filter(({ optional }) => !optional).length;
  }

  get maxArguments(): number {
    return this.parameters.at(-1)?.rest ? Infinity : this.parameters.length;
  }

  /** Its result, in one sentence. */
  async summary(): Promise<string> {
    return (await this.#import()).summary;
  }

  async #import(): Promise<FunctionBody> {
    const body = (await (this.#module ??= this.#group())).BODIES[this.name];
    if (!body) throw new Error(`${this.name}() has no body`);
    return body;
  }

  /** Loads the body and what it needs: before anything evaluates a call of it. */
  async load(): Promise<void> {
    if (this.#body) return;
    const body = await this.#import();
    if (body.kind === "value") await body.load?.();
    this.#body = body;
  }

  /** Call `load` first. */
  get body(): FunctionBody {
    if (!this.#body) throw new Error(`${this.name}() is used before it is loaded`);
    return this.#body;
  }
}

/** Imports the module with the bodies of some functions. */
export type FunctionModule = () => Promise<{ readonly BODIES: FunctionBodies }>;

/** What a function does: with values, or with a predicate over a list. */
type FunctionBody = ValueFunction | ListFunction;

/** The bodies of the functions of a subject, by name. */
export type FunctionBodies = Readonly<Record<string, FunctionBody>>;

export interface ConstantArgument {
  readonly position: number;
  /** Its problem; undefined if there is none. */
  readonly problem: (text: string) => string | undefined;
  /** Whether all constant strings in a list or map that is written there are checked. */
  readonly isDeep?: true;
}

export interface ValueFunction {
  readonly kind: "value";
  /** Its result, in one sentence. */
  readonly summary: string;
  readonly call: (...args: never[]) => Value;
  /** Whether the first argument of `call` is the evaluation. */
  readonly takesEvaluation?: true;
  /** Loads the libraries that it needs. */
  readonly load?: () => Promise<void>;
  /** The argument that is checked before the run if it is a constant string. */
  readonly constant?: ConstantArgument;
  /**
   * Prepares a call when its workflow is loaded: reads the files that it names, and loads what it
   * needs. Returns the mistake in the call, if there is one.
   */
  readonly prepare?: (call: CallExpression, files: FilesOfCalls) => Promise<Mistake | undefined>;
  /** Every reason why a call with these arguments is false; the first argument is the received value. */
  readonly mismatches?: (...args: never[]) => readonly Mismatch[];
}

/** The files that calls may name, relative to the file of the call. */
export interface FilesOfCalls {
  /** A schema and those that it refers to. Throws SchemaFault. */
  readonly readSchema: (path: string) => Promise<SchemaFiles>;
  /** The content of a file. Throws LoadError. */
  readonly readFile: (path: string) => Promise<Uint8Array>;
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

export interface ListFunction {
  readonly kind: "list";
  /** Its result, in one sentence. */
  readonly summary: string;
  readonly call: (list: readonly Value[], loop: ListLoop) => Value;
}

/** The tools of a list function besides its list. */
export interface ListLoop {
  /** The value of the predicate for an item; the item itself without a predicate. */
  readonly each: (item: Value, index: number) => Value;
  /** Whether the predicate is true for an item. */
  readonly test: (item: Value, index: number) => boolean;
  /** Sets `#acc` for the next item. */
  readonly accumulate: (value: Value) => void;
  /** The argument after the predicate, if there is one. */
  readonly extra?: Value;
}

interface FunctionParameter {
  readonly name: string;
  readonly type: FunctionParameterType;
  readonly optional: boolean;
  /** Whether it takes all arguments from here on. */
  readonly rest: boolean;
}

type FunctionParameterType =
  | "any"
  | "string"
  | "number"
  | "integer"
  | "list"
  | "map"
  | "predicate";

/** The types of the arguments are checked before `call`. */
export function define(
  summary: string,
  call: ValueFunction["call"],
  details: Partial<ValueFunction> = {},
): ValueFunction {
  return { kind: "value", summary, call, ...details };
}

/** A function that needs more than its arguments: the scope, or the node of the call. */
export function defineWithEvaluation(
  summary: string,
  call: (run: Evaluation, ...args: never[]) => Value,
  details?: Partial<ValueFunction>,
): ValueFunction {
  return define(summary, call as ValueFunction["call"], { takesEvaluation: true, ...details });
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

/** The problem of the type of an argument; undefined if there is none. */
export function argumentProblem(
  { name, parameters }: FunctionRecord,
  position: number,
  value: Value,
): string | undefined {
  const parameter = parameters[Math.min(position, parameters.length - 1)];
  if (!parameter || isOfType(value, parameter.type)) return undefined;
  const wanted = parameter.type.startsWith("int") ? "a whole number" : `a ${parameter.type}`;
  return `argument ${position + 1} of ${name}() must be ${wanted}, got ${kindOf(value)}`;
}

function isOfType(value: Value, type: FunctionParameterType): boolean {
  switch (type) {
    case "any":
    case "predicate":
      return true;
    case "string":
      return typeof value === "string";
    case "number":
      return isNumber(value);
    case "integer":
      return Number.isInteger(value);
    case "list":
      return Array.isArray(value);
    case "map":
      return isDict(value);
  }
}

/** A library that is imported when a workflow that needs it is loaded, as few workflows do. */
export class Library<T> {
  #module: T | undefined;
  readonly #import: () => Promise<T>;

  constructor(importModule: () => Promise<T>) {
    this.#import = importModule;
  }

  readonly load = async (): Promise<void> => {
    this.#module ??= await this.#import();
  };

  get isLoaded(): boolean {
    return this.#module !== undefined;
  }

  /** Call `load` first. */
  get module(): T {
    if (this.#module === undefined) throw new Error("a library is used before it is loaded");
    return this.#module;
  }
}
