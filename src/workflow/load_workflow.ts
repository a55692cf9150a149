import { loadActions } from "../action/registry.ts";
import type { Host } from "../host/host.ts";
import type { Diagnostic } from "../source/diagnostic.ts";
import { LoadError } from "../source/errors.ts";
import type { Path } from "../source/source.ts";
import { decodeWorkflow } from "./decode_workflow.ts";
import { type ExpressionReader, NO_EXPRESSIONS } from "./expression_reader.ts";
import { inheritedPath } from "./inherited_path.ts";
import { inspectValue } from "./inspect_value.ts";
import { readLimits } from "./limits.ts";
import type { Document, Workflow } from "./model.ts";
import { addError, locateProblems, type Problem } from "./problem.ts";
import { isRawMap } from "./raw_value.ts";
import { readFiles } from "./read_files.ts";
import { readYaml } from "./read_yaml.ts";
import { usedActions } from "./used_actions.ts";

const UNQUOTED = "unquoted";

/** A workflow that may run, and what should be said before it does. */
export interface Loaded {
  readonly workflow: Workflow;
  readonly warnings: readonly Diagnostic[];
}

/**
 * Loads a workflow from a file, or from several whose paths are separated by commas. Throws
 * LoadError with everything that is wrong with it.
 */
export async function loadWorkflow(argument: string, host: Host): Promise<Loaded> {
  const limits = readLimits(host.env);
  const document = await readYaml(await readFiles(argument, host));
  const problems: Problem[] = [];
  const { fault, unquoted, expressions: any } = inspectValue(document.value);
  if (fault) {
    addError(problems, "size", fault.path, fault.message);
    throw await loadError(problems, document);
  }
  for (const path of unquoted) {
    addError(problems, UNQUOTED, path, "YAML reads {{ }} without quotes as a mapping", {
      hint: "put the whole value in quotes",
    });
  }
  const expressions = any ? await expressionReader(problems) : NO_EXPRESSIONS;
  const actions = await loadActions(usedActions(document.value));
  const workflow = decodeWorkflow(document, { problems, limits, expressions, actions });
  await expressions.check(varsOf(document.value));
  if (!workflow || problems.some(({ severity }) => severity === "error")) {
    throw await loadError(withoutConsequences(problems, unquoted, document.value), document);
  }
  return { workflow, warnings: await locateProblems(problems, document) };
}

function varsOf(root: unknown): readonly string[] {
  return isRawMap(root) && isRawMap(root.vars) ? Object.keys(root.vars) : [];
}

/** Brings the expression language, which not every workflow needs. */
async function expressionReader(problems: Problem[]): Promise<ExpressionReader> {
  const { makeExpressionReader } = await import("./read_expressions.ts");
  return makeExpressionReader(problems);
}

async function loadError(problems: readonly Problem[], document: Document): Promise<LoadError> {
  const diagnostics = await locateProblems(problems, document);
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  const count = errors === 1 ? "1 error" : `${errors} errors`;
  return new LoadError(`workflow file '${document.name}' has ${count}`, diagnostics);
}

/** Leaves out what is wrong only because a template without quotes was read as a mapping. */
function withoutConsequences(
  problems: readonly Problem[],
  unquoted: readonly Path[],
  root: unknown,
): readonly Problem[] {
  if (unquoted.length === 0) return problems;
  return problems.filter(({ code, path }) => {
    const place = inheritedPath(root, path);
    return code === UNQUOTED ||
      !unquoted.some((mapping) => mapping.every((part, index) => place[index] === part));
  });
}
