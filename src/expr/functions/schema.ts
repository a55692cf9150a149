import { formatJson } from "../../base/value/format_value.ts";
import { parseJson } from "../../base/value/parse_json.ts";
import type { Mismatch } from "../../base/value/difference.ts";
import { isDict, isNumber, type Value } from "../../base/value/value.ts";
import type { Evaluation } from "../evaluate/evaluation.ts";
import { Fault } from "../fault.ts";
import { draftOf, type SchemaDraft, SchemaFault } from "../json_schema/schema_tree.ts";
import {
  loadSchemaCompiler,
  type SchemaCompiler,
  type Validator,
} from "../json_schema/validator.ts";
import type { CallExpression, Node } from "../parse/ast.ts";
import { remember } from "../remember.ts";
import {
  defineWithEvaluation,
  type FilesOfCalls,
  type FunctionBodies,
  type Mistake,
} from "./function.ts";

/** The validation of values by JSON Schema. */
export const BODIES: FunctionBodies = {
  schema: defineWithEvaluation(
    "Whether the value is valid according to a JSON Schema: the name of a file, relative to the workflow, or a map.",
    (run, value: Value, schema: Value) => violations(run, value, schema).length === 0,
    { prepare: prepareCall, mismatches: violations },
  ),
};

/** The constant schema of a call, compiled when its workflow was loaded. */
const PREPARED = new WeakMap<Node, Validator>();

const DRAFTS: readonly SchemaDraft[] = ["2020-12", "2019-09", "7", "4"];
const INLINE = "schema:inline";

const compilers = new Map<SchemaDraft, SchemaCompiler>();

const NOT_LOADED = "schema() is there in workflows only, which load what it needs";

/** Every violation of a schema by a value; `run.at` is the call. */
function violations(run: Evaluation, value: Value, schema: Value): readonly Mismatch[] {
  const prepared = run.at && PREPARED.get(run.at);
  try {
    return (prepared ?? compileNow(schema))(value);
  } catch (error) {
    throw error instanceof SchemaFault ? new Fault(error.message, error.hint) : error;
  }
}

/** The validator of a schema that was not known before the run. */
function compileNow(schema: Value): Validator {
  if (compilers.size === 0) throw new Fault(NOT_LOADED);
  if (typeof schema === "string") {
    throw new Fault(
      "the file name of schema() must be a constant",
      'files are read before the run: write schema(value, "order.json")',
    );
  }
  if (!isDict(schema) && typeof schema !== "boolean") {
    throw new Fault("schema() needs the name of a file or a map as its schema");
  }
  return compileText(formatJson(schema));
}

const compileText = remember((text) => {
  const schema: unknown = parseJson(text);
  const compiler = compilers.get(draftOf(schema));
  if (!compiler) throw new Fault(NOT_LOADED);
  return compiler.compile({ uri: INLINE, schema });
}, 50);

/** Compiles the schema of a call if it is a constant; otherwise loads all compilers. */
async function prepareCall(
  call: CallExpression,
  files: FilesOfCalls,
): Promise<Mistake | undefined> {
  const node = call.arguments[1];
  if (!node) return undefined;
  try {
    const constant = constantOf(node);
    if (constant === undefined) {
      for (const draft of DRAFTS) await compilerOf(draft);
      return undefined;
    }
    const { root, others } = typeof constant === "string"
      ? await files.readSchema(constant)
      : { root: { uri: INLINE, schema: constant }, others: [] };
    const compiler = await compilerOf(draftOf(root.schema));
    PREPARED.set(call, compiler.compile(root, others));
    return undefined;
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    return { node, message: error.message, hint: error.hint };
  }
}

async function compilerOf(draft: SchemaDraft): Promise<SchemaCompiler> {
  const known = compilers.get(draft);
  if (known) return known;
  const compiler = await loadSchemaCompiler(draft);
  compilers.set(draft, compiler);
  return compiler;
}

/** The value of a node that reads no name; undefined where it may be another in each run. */
function constantOf(node: Node): Value | undefined {
  switch (node.type) {
    case "Literal":
      return node.value;
    case "UnaryExpression": {
      const value = constantOf(node.argument);
      return node.operator === "-" && isNumber(value) ? -value : undefined;
    }
    case "ArrayExpression": {
      const items = node.elements.map(constantOf);
      return items.some((item) => item === undefined) ? undefined : items as Value[];
    }
    case "ObjectExpression": {
      const map: Record<string, Value> = Object.create(null);
      for (const { key, value } of node.properties) {
        const inside = constantOf(value);
        if (key.type !== "Literal" || inside === undefined) return undefined;
        map[String(key.value)] = inside;
      }
      return map;
    }
    default:
      return undefined;
  }
}
