import { formatJson } from "../../../base/value/format_value.ts";
import type { Mismatch } from "../../../base/value/mismatch.ts";
import { isDict, isNumber, type Value } from "../../../base/value/value.ts";
import type { SchemaDraft } from "../../json_schema/ajv.ts";
import { draftOf, SchemaFault } from "../../json_schema/schema_tree.ts";
import type { SchemaCompiler, Validator } from "../../json_schema/validator.ts";
import type { Evaluation } from "../../evaluate/evaluation.ts";
import { Fault } from "../../fault.ts";
import type { CallExpression, Node } from "../../parse/ast.ts";
import type { FilesOfCalls, Mistake } from "../function.ts";

/** The constant schema of a call, compiled when its workflow was loaded. */
const PREPARED = new WeakMap<Node, Validator>();

const compilers = new Map<SchemaDraft, SchemaCompiler>();
/** Of schemas that are known only in a run. */
const compiled = new Map<string, Validator>();
const CACHE_SIZE = 50;
/** Compiling is paid for as so many steps, and as so many for each value in a schema. */
const COMPILE_COST = 5_000;
const COST_OF_VALUE = 20;

const DRAFTS: readonly SchemaDraft[] = ["2020-12", "2019-09", "7", "4"];

/** Every violation of a schema by a value; `run.at` is the call. */
export function violations(run: Evaluation, value: Value, schema: Value): readonly Mismatch[] {
  const prepared = run.at && PREPARED.get(run.at);
  try {
    return (prepared ?? compileNow(run, schema))(value, run);
  } catch (error) {
    throw error instanceof SchemaFault ? new Fault(error.message, error.hint) : error;
  }
}

/** The validator of a schema that was not known before the run. */
function compileNow(run: Evaluation, schema: Value): Validator {
  if (typeof schema === "string") {
    throw new Fault(
      "the file name of schema() must be a constant",
      'files are read before the run: write schema(value, "order.json")',
    );
  }
  if (!isDict(schema) && typeof schema !== "boolean") {
    throw new Fault("schema() needs the name of a file or a map as its schema");
  }
  const compiler = compilers.get(draftOf(schema));
  if (!compiler) throw new Fault("schema() is there in workflows only, which load what it needs");
  const text = formatJson(schema, run);
  const known = compiled.get(text);
  if (known) return known;
  run.spend(COMPILE_COST + COST_OF_VALUE * (text.length >> 3));
  const validator = compiler.compile({ uri: "schema:inline", schema });
  if (compiled.size >= CACHE_SIZE) compiled.delete(compiled.keys().next().value!);
  compiled.set(text, validator);
  return validator;
}

/** Compiles the schema of a call if it is a constant, and loads what compiles others. */
export async function prepareCall(
  call: CallExpression,
  files: FilesOfCalls,
): Promise<Mistake | undefined> {
  const node = call.arguments[1];
  if (!node) return undefined;
  try {
    if (node.type === "Literal" && typeof node.value === "string") {
      const { root, others } = await files.readSchema(node.value);
      const compiler = await compilerOf(draftOf(root.schema));
      PREPARED.set(call, compiler.compile(root, others));
      return undefined;
    }
    const constant = constantOf(node);
    if (constant === undefined) {
      for (const draft of DRAFTS) await compilerOf(draft);
      return undefined;
    }
    const compiler = await compilerOf(draftOf(constant));
    PREPARED.set(call, compiler.compile({ uri: "schema:inline", schema: constant }));
    return undefined;
  } catch (error) {
    if (!(error instanceof SchemaFault)) throw error;
    const { message, hint } = error;
    return { node, message, ...hint === undefined ? {} : { hint } };
  }
}

async function compilerOf(draft: SchemaDraft): Promise<SchemaCompiler> {
  const known = compilers.get(draft);
  if (known) return known;
  const { loadSchemaCompiler } = await import("../../json_schema/validator.ts");
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
