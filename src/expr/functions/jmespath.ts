import type { Value } from "../../base/value/value.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { Fault } from "../fault.ts";
import { LIMITS } from "../expression_limits.ts";
import { checkNumbers, copyData } from "./copy_data.ts";

type Library = typeof import("@jmespath-community/jmespath");
type Tree = ReturnType<Library["compile"]>;

/** Methods of the library through which all of its work goes. */
interface Interpreter {
  visit: (node: unknown, value: unknown) => unknown;
}
interface Runtime {
  callFunction: (name: string, args: readonly unknown[]) => unknown;
}

let library: Library | undefined;
/** The meter that the current search counts against. */
let payer: Evaluation | undefined;

/** Loads what evaluates JMESPath, which few workflows need. */
export async function loadJmespath(): Promise<void> {
  if (library) return;
  const loaded = await import("@jmespath-community/jmespath");
  if (library) return;
  const { TreeInterpreter } = loaded;
  meterVisits(Object.getPrototypeOf(TreeInterpreter) as Interpreter);
  meterCalls(Object.getPrototypeOf(TreeInterpreter.runtime) as Runtime);
  library = loaded;
}

/** The problem of an expression; undefined if there is none, or before the library is loaded. */
export function jmespathProblem(text: string): string | undefined {
  if (!library) return undefined;
  const tree = compile(text);
  return tree instanceof Fault ? tree.message : undefined;
}

/** The value of a JMESPath expression. */
export function searchJmespath(run: Evaluation, value: Value, text: string): Value {
  if (!library) throw new Error("jmespath is not loaded");
  run.spend(100 + text.length);
  checkNumbers("jmespath", text, value);
  const tree = compile(text);
  if (tree instanceof Fault) throw tree;
  const before = payer;
  payer = run;
  try {
    return copyData(run, library.TreeInterpreter.search(tree, copyData(run, value) as never));
  } catch (error) {
    if (error instanceof Fault || !(error instanceof Error)) throw error;
    // Other messages of the library may quote data, which may be secret.
    const problem = callProblem(error.message) ?? "a value is of the wrong type";
    const unknown = /^Unknown function: (\w+)/.exec(error.message)?.[1];
    throw new Fault(
      unknown === undefined
        ? `jmespath() cannot evaluate this expression: ${problem}`
        : `jmespath() has no function ${unknown}()`,
    );
  } finally {
    payer = before;
  }
}

/** Translates an error of the library about the arguments of a function into our wording. */
function callProblem(message: string): string | undefined {
  const call = /^Invalid arity: (\w+\(\) takes [\w ]+ but received \d+)$/.exec(message)?.[1];
  const [, name, at, wanted = "", given] =
    /^Invalid type: (\w+)\(\) expected argument (\d+) to be type \(([^)]+)\) but received type (\w+) instead\.$/
      .exec(message) ?? [];
  if (name === undefined) return call;
  const types = wanted.split(" | ").map(typeOf).map((type) => `a ${type}`).join(" or ");
  const isOtherList = wanted.startsWith("Array<") && given === "array";
  const got = isOtherList ? "another list" : typeOf(given ?? "");
  return `argument ${at} of ${name}() must be ${types}, got ${got}`;
}

/** A type as the messages of the program name it. */
function typeOf(type: string): string {
  return type.replace(/^Array<(\w+)>$/, "list of $1s").replace("array", "list")
    .replace("object", "map");
}

function compile(text: string): Tree | Fault {
  if (text.length > LIMITS.pattern) {
    return new Fault(`the JMESPath is longer than ${LIMITS.pattern} characters`);
  }
  try {
    return library!.compile(text);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // Without the text that the parser quotes.
    const token =
      /^Syntax error[,:] (?:expected \w+, got: |unexpected token type: |unexpected token: .*\(|invalid token \()(\w+)/s
        .exec(error.message)?.[1];
    const words = token?.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
    const reason = token === "EOF" ? "it ends too early" : words && `unexpected ${words}`;
    return new Fault(`invalid JMESPath${reason ? `: ${reason}` : ""}`);
  }
}

function meterVisits(interpreter: Interpreter): void {
  const { visit } = interpreter;
  interpreter.visit = function (node, value) {
    payer?.spend(1);
    const result = visit.call(this, node, value);
    if (Array.isArray(result)) payer?.spend(result.length >> 2);
    else if (typeof result === "string") payer?.spend(result.length >> 6);
    return result;
  };
}

function meterCalls(runtime: Runtime): void {
  const { callFunction } = runtime;
  runtime.callFunction = function (name, args) {
    if (name.startsWith("pad_") && typeof args[1] === "number") payer?.reserveText(args[1]);
    for (const arg of args) payer?.spend(sizeOf(arg));
    const result = callFunction.call(this, name, args);
    if (typeof result === "string") payer?.reserveText(result.length);
    return result;
  };
}

/** The evaluation steps that a function may spend on an argument. */
function sizeOf(value: unknown): number {
  if (typeof value === "string") return value.length >> 4;
  if (typeof value !== "object" || value === null) return 0;
  return (Array.isArray(value) ? value : Object.keys(value)).length;
}
