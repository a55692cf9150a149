import { RunnerError } from "../../base/errors.ts";
import { decodeText } from "../../base/text/decode_text.ts";
import { jsonFault, parseJson } from "../../base/value/parse_json.ts";
import type { Value } from "../../base/value/value.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { Fault } from "../fault.ts";
import type { CallExpression, Node } from "../parse/ast.ts";
import {
  defineWithEvaluation,
  type FilesOfCalls,
  type FunctionBodies,
  type Mistake,
  type ValueFunction,
} from "./function.ts";

/** Functions that read files, once, when their workflow is loaded. */
export const BODIES: FunctionBodies = {
  read_text: defineFile(
    "read_text",
    "The text of a file, relative to the workflow.",
    decodeText,
  ),
  read_json: defineFile(
    "read_json",
    "The value in a JSON file, relative to the workflow.",
    (bytes) => parseJson(decodeText(bytes)) as Value,
  ),
  read_yaml: defineFile(
    "read_yaml",
    "The value in a YAML file of one document, relative to the workflow.",
    async (bytes) => {
      const { constructValues, parseYaml } = await import("../../base/yaml/parse_yaml.ts");
      const [value] = constructValues(parseYaml([{ name: "", text: decodeText(bytes) }]));
      return value as Value ?? null;
    },
  ),
  sha256_file: defineFile(
    "sha256_file",
    "The SHA-256 hash of a file, relative to the workflow, in hexadecimal.",
    async (bytes) => (await import("node:crypto")).hash("sha256", bytes),
  ),
};

/** The values of calls, read when their workflow was loaded. */
const VALUES = new WeakMap<Node, Value>();

function defineFile(
  name: string,
  summary: string,
  parse: (bytes: Uint8Array) => Value | Promise<Value>,
): ValueFunction {
  const call = ({ at }: Evaluation) => {
    const value = at && VALUES.get(at);
    if (value === undefined) {
      throw new Fault(`${name}() is there in workflows only, with a constant path`);
    }
    return value;
  };
  const prepare = (call: CallExpression, files: FilesOfCalls) => readFile(name, call, files, parse);
  return defineWithEvaluation(summary, call, { prepare });
}

const READ_BEFORE = "files are read before the run, and the hash of a download is res.sha256";

/** Reads the file of a call. Returns the mistake, if its path or its content is wrong. */
async function readFile(
  name: string,
  call: CallExpression,
  files: FilesOfCalls,
  parse: (bytes: Uint8Array) => Value | Promise<Value>,
): Promise<Mistake | undefined> {
  const [node] = call.arguments;
  if (!node) return undefined;
  const path = constantOf(node);
  if (path === undefined) {
    return {
      node,
      message: `the path of ${name}() must be a constant`,
      hint: "files are read before the run; shell with cat reads one that a step writes",
    };
  }
  // The types of arguments are checked elsewhere.
  if (typeof path !== "string") return undefined;
  if (path.trim() === "") return { node, message: `the path of ${name}() is empty` };
  let bytes: Uint8Array = new Uint8Array();
  try {
    bytes = await files.readFile(path);
    VALUES.set(call, await parse(bytes));
    return undefined;
  } catch (error) {
    if (error instanceof RunnerError) {
      const { message, hint } = error;
      return { node, message, hint: /not found$/.test(message) ? `${hint}; ${READ_BEFORE}` : hint };
    }
    const fault = faultIn(bytes, error);
    if (!fault) throw error;
    const before = decodeText(bytes).slice(0, fault.offset).split("\n");
    const position = `line ${before.length}, column ${before.at(-1)!.length + 1}`;
    const message = `${name}() cannot read '${path}': ${position}: ${fault.message}`;
    return { node, message };
  }
}

/** The value of a literal, or of texts that are added; undefined for any other expression. */
function constantOf(node: Node): unknown {
  if (node.type === "Literal") return node.value;
  if (node.type !== "BinaryExpression" || node.operator !== "+") return undefined;
  const sides = [constantOf(node.left), constantOf(node.right)];
  return sides.every((side) => typeof side === "string") ? sides.join("") : undefined;
}

/** What is wrong with a text that is not JSON or YAML, and where; undefined for other errors. */
function faultIn(bytes: Uint8Array, error: unknown) {
  if (error instanceof SyntaxError) return jsonFault(decodeText(bytes), error);
  if (!(error instanceof Error && "reason" in error && "offset" in error)) return undefined;
  return { message: String(error.reason), offset: Number(error.offset) };
}
