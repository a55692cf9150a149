import { loadActions } from "../action/registry.ts";
import type { Host } from "../host/host.ts";
import type { Diagnostic } from "../source/diagnostic.ts";
import type { Path } from "../source/source.ts";
import { completeWorkflow, decodeWorkflow, type WorkflowDraft } from "./decode_workflow.ts";
import { type ExpressionReader, type ExpressionUse, NO_EXPRESSIONS } from "./expression_reader.ts";
import { inspectValue } from "./inspect_value.ts";
import { warnOfLeadingZeros } from "./leading_zeros.ts";
import { type Limits, readLimits } from "./limits.ts";
import type { Document, Workflow } from "./model.ts";
import { addError, hasErrors, type Problem, UNQUOTED_TEMPLATE } from "./problem.ts";
import { isRawMap } from "./raw_value.ts";
import { readFiles } from "./read_files.ts";
import { readYaml } from "./read_yaml.ts";
import { usedActions } from "./used_actions.ts";

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
  const document = await readDocument(argument, host);
  const { draft, problems, unquoted } = await decodeDocument(document, limits);
  const workflow = draft && completeWorkflow(draft);
  if (!workflow || hasErrors(problems)) {
    throw await (await problemTeller()).loadError(problems, unquoted, document);
  }
  if (problems.length === 0) return { workflow, warnings: [] };
  return { workflow, warnings: await (await problemTeller()).locateProblems(problems, document) };
}

/** Reads a file, or several, as one YAML document. Throws LoadError where they are none. */
export async function readDocument(argument: string, host: Host): Promise<Document> {
  return await readYaml(await readFiles(argument, host));
}

/** All that could be decoded of a document, and all that is wrong with it. */
export interface DecodedDocument {
  /** Undefined where nothing could be decoded. */
  readonly draft?: WorkflowDraft;
  readonly uses: readonly ExpressionUse[];
  readonly problems: readonly Problem[];
  /** Mappings that should be templates: what is wrong inside of them is a consequence. */
  readonly unquoted: readonly Path[];
}

/** Decodes as much of a document as can be, whatever is wrong with it. */
export async function decodeDocument(
  document: Document,
  limits: Limits,
): Promise<DecodedDocument> {
  const problems: Problem[] = [];
  const { fault, unquoted, expressions: any } = inspectValue(document.value);
  if (fault) {
    addError(problems, "size", fault.path, fault.message);
    return { problems, uses: [], unquoted: [] };
  }
  for (const path of unquoted) {
    addError(problems, UNQUOTED_TEMPLATE, path, "YAML reads {{ }} without quotes as a mapping", {
      hint: "put the whole value in quotes",
    });
  }
  const expressions = any ? await expressionReader(problems) : NO_EXPRESSIONS;
  const actions = await loadActions(usedActions(document.value));
  const draft = decodeWorkflow(document, { problems, limits, expressions, actions });
  await expressions.check(varsOf(document.value));
  await warnOfLeadingZeros(problems, document);
  return { ...draft ? { draft } : {}, uses: expressions.uses, problems, unquoted };
}

function varsOf(root: unknown): readonly string[] {
  return isRawMap(root) && isRawMap(root.vars) ? Object.keys(root.vars) : [];
}

/** Brings the expression language, which not every workflow needs. */
async function expressionReader(problems: Problem[]): Promise<ExpressionReader> {
  const { makeExpressionReader } = await import("./read_expressions.ts");
  return makeExpressionReader(problems);
}

/** Brings what tells of problems, which most workflows have none of. */
function problemTeller(): Promise<typeof import("./tell_problems.ts")> {
  return import("./tell_problems.ts");
}
