import { copyValue, type Value } from "../../base/value/value.ts";
import { Fault } from "../fault.ts";
import { LIMITS } from "../limits.ts";
import { defineNew, Library } from "./function.ts";
import { checkNumbers } from "./json_path.ts";

const library = new Library(() => import("@jmespath-community/jmespath"));

export const JMESPATH_FUNCTION = defineNew(
  "jmespath(value: any, expression: string)",
  "The value of a JMESPath expression about a value.",
  search,
  { load: library.load, constant: { position: 1, problem: jmespathProblem } },
);

/** The problem of an expression; undefined if there is none, or before the library is loaded. */
function jmespathProblem(text: string): string | undefined {
  if (!library.isLoaded) return undefined;
  const tree = compile(text);
  return tree instanceof Fault ? tree.message : undefined;
}

function search(value: Value, text: string): Value {
  checkNumbers("jmespath", text, value);
  const tree = compile(text);
  if (tree instanceof Fault) throw tree;
  try {
    return copyValue(library.module.TreeInterpreter.search(tree, copyValue(value) as never));
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // Other messages of the library may quote data, which may be secret.
    const problem = callProblem(error.message) ?? "a value is of the wrong type";
    const unknown = /^Unknown function: (\w+)/.exec(error.message)?.[1];
    throw new Fault(
      unknown === undefined
        ? `jmespath() cannot evaluate this expression: ${problem}`
        : `jmespath() has no function ${unknown}()`,
    );
  }
}

/** Translates an error of the library about the arguments of a function into our wording. */
function callProblem(message: string): string | undefined {
  const call = /^Invalid arity: (\w+\(\) takes [\w ]+ but received \d+)$/.exec(message)?.[1];
  const [, name, at, wanted = "", received] =
    /^Invalid type: (\w+)\(\) expected argument (\d+) to be type \(([^)]+)\) but received type (\w+) instead\.$/
      .exec(message) ?? [];
  if (name === undefined) return call;
  const types = wanted.split(" | ").map(typeOf).map((type) => `a ${type}`).join(" or ");
  const isOtherList = wanted.startsWith("Array<") && received === "array";
  const got = isOtherList ? "another list" : typeOf(received ?? "");
  return `argument ${at} of ${name}() must be ${types}, got ${got}`;
}

/** A type as the messages of the program name it. */
function typeOf(type: string): string {
  return type.replace(/^Array<(\w+)>$/, "list of $1s").replace("array", "list")
    .replace("object", "map");
}

function compile(text: string) {
  if (text.length > LIMITS.pattern) {
    return new Fault(`the JMESPath is longer than ${LIMITS.pattern} characters`);
  }
  try {
    return library.module.compile(text);
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    // Without the text that the parser quotes.
    const token =
      /^Syntax error[,:] (?:expected \w+, got: |unexpected token type: |unexpected token: .*\(|invalid token \()(\w+)/s
        .exec(error.message)?.[1];
    const name = token?.replaceAll(/(?<=[a-z])(?=[A-Z])/g, " ").toLowerCase();
    const reason = token === "EOF" ? "it ends too early" : name && `unexpected ${name}`;
    return new Fault(`invalid JMESPath${reason ? `: ${reason}` : ""}`);
  }
}
