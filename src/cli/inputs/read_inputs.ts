import type { DataTemplate } from "../../expr/expression.ts";
import { findVar, matchVars, setVars } from "../../plan/set_vars.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { UsageError } from "../../base/errors.ts";
import { readEnvFile, readSecretFile } from "../../suite/read_env_file.ts";
import type { Workflow } from "../../workflow/model.ts";
import type { Invocation, Program } from "../command.ts";
import { type NamedValue, parseVar } from "../args/parse_var.ts";
import { readVarFile, unknownVarsError, type VarFile } from "./read_var_file.ts";

/** Inputs of a workflow from the command line. */
export interface Inputs {
  /** The variables that `vars` see: the real environment over that of files. */
  readonly environment: Readonly<Record<string, string>>;
  readonly varFiles: readonly VarFile[];
  readonly vars: readonly NamedValue[];
  readonly warnings: readonly Diagnostic[];
}

/**
 * Reads what `--env-file`, `--var-file` and `--var` give. Values of secret names become secrets of
 * the program before anything is said of them. Throws LoadError and UsageError.
 */
export async function readInputs(
  { lists }: Pick<Invocation, "lists">,
  program: Program,
): Promise<Inputs> {
  const { host, secrets } = program;
  const ofFiles: Record<string, string> = Object.create(null);
  for (const path of lists.get("env-file") ?? []) {
    Object.assign(ofFiles, await readEnvFile(path, program));
  }
  const varFiles: VarFile[] = [];
  for (const path of lists.get("var-file") ?? []) {
    const file = await readVarFile(await readSecretFile(path, "var file", program));
    secrets.push(file.vars);
    varFiles.push(file);
  }
  const vars: NamedValue[] = [];
  for (const text of lists.get("var") ?? []) {
    const { name, value } = await parseVar(text);
    secrets.push({ [name]: value });
    vars.push({ name, value });
  }
  const environment = { ...ofFiles, ...host.env.all() };
  return { environment, varFiles, vars, warnings: varFiles.flatMap(({ warnings }) => warnings) };
}

/** Takes a name that a workflow does not have, and the error that this is otherwise. */
export type OnUnknown = (name: string, makeError: () => Error | Promise<Error>) => void;

/**
 * The workflow with its vars set: by the files in their order, then by the command line. Throws
 * for a name that it does not have, unless there is somebody to take it.
 */
export async function applyInputs(
  workflow: Workflow,
  { varFiles, vars }: Inputs,
  onUnknown?: OnUnknown,
): Promise<Workflow> {
  let template = workflow.vars;
  for (const file of varFiles) {
    const found = [...matchVars(workflow.vars, file.vars)];
    const problems = found.filter((each) => "message" in each);
    for (const problem of onUnknown ? problems : []) {
      onUnknown?.(problem.path.join("."), () => unknownVarsError(file, [problem]));
    }
    if (!onUnknown && problems.length > 0) throw await unknownVarsError(file, problems);
    template = setVars(template, found.filter((each) => "value" in each));
  }
  for (const { name, value } of vars) {
    const path = pathOf(name, workflow.vars, template);
    if (!("message" in path)) template = setVars(template, [{ path, value }]);
    else {
      const { message, hint } = path;
      const makeError = () => new UsageError(`option --var: ${message}`, hint);
      if (!onUnknown) throw makeError();
      onUnknown(name, makeError);
    }
  }
  return { ...workflow, vars: template };
}

/** Maps of the workflow that accept other keys still do; a value that was set may have more keys. */
function pathOf(name: string, written: DataTemplate, set: DataTemplate) {
  const path = findVar(written, name);
  return "message" in path ? findVar(set, name) : path;
}
