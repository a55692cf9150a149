import { countOf } from "../../base/text/count_of.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { LoadError, UsageError } from "../../base/errors.ts";
import type { Path, Source } from "../../base/source.ts";
import { tryParseJson } from "../../base/value/parse_json.ts";
import { describeValue, type Dict, isDict, type Value } from "../../base/value/value.ts";
import { holdsTemplate } from "../../expr/template.ts";
import type { OnUnknown } from "../../plan/select_jobs.ts";
import { findVar, matchVars, setVars, type VarProblem } from "../../plan/set_vars.ts";
import { inspectValue, warnOfOddNumbers } from "../../workflow/decode/decode_document.ts";
import { locateDiagnostics } from "../../workflow/locate_diagnostics.ts";
import type { Document, Workflow } from "../../workflow/model.ts";
import { addWarning, type Problem } from "../../workflow/problem.ts";
import { readYaml } from "../../base/yaml/read_yaml.ts";
import type { Invocation, Program } from "../command.ts";

/** The variables of a run and the values for vars that the command line gives. */
interface Vars {
  /** The variables that `vars` see: the real environment over that of files. */
  readonly environment: Record<string, string>;
  readonly warnings: readonly Diagnostic[];
  /**
   * Sets vars of a workflow: by the files in their order, then by the command line. Throws for a
   * name that it does not have, unless `onUnknown` takes it.
   */
  readonly set: (workflow: Workflow, onUnknown?: OnUnknown) => Workflow;
}

/**
 * Reads `--env-file`, also the files of a suite, `--var-file` and `--var`. Values of secret names
 * become secrets of the program before any message quotes them. Throws LoadError and UsageError.
 */
export async function readVars(
  { lists }: Pick<Invocation, "lists">,
  program: Program,
  envFiles: readonly string[] = [],
): Promise<Vars> {
  const { host, secrets } = program;
  const ofFiles: Record<string, string> = Object.create(null);
  for (const path of [...envFiles, ...lists.get("env-file") ?? []]) {
    const { readEnvFile } = await import("../../suite/env_file.ts");
    Object.assign(ofFiles, await readEnvFile(path, program));
  }
  const varFiles: VarFile[] = [];
  for (const path of lists.get("var-file") ?? []) {
    const { readSecretFile } = await import("../../suite/env_file.ts");
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
  return {
    environment: { ...ofFiles, ...host.env.all() },
    warnings: varFiles.flatMap(({ warnings }) => warnings),
    set: (workflow, onUnknown) => applyVars(workflow, varFiles, vars, onUnknown),
  };
}

function applyVars(
  workflow: Workflow,
  varFiles: readonly VarFile[],
  vars: readonly NamedValue[],
  onUnknown?: OnUnknown,
): Workflow {
  let template = workflow.vars;
  for (const file of varFiles) {
    const found = [...matchVars(workflow.vars, file.vars)];
    const problems = found.filter((each) => "message" in each);
    if (!onUnknown && problems.length > 0) throw unknownVarsError(file, problems);
    for (const problem of problems) {
      onUnknown?.(problem.path.join("."), () => unknownVarsError(file, [problem]));
    }
    template = setVars(template, found.filter((each) => "value" in each));
  }
  for (const { name, value } of vars) {
    // What a file has set may have more keys than the workflow.
    const written = findVar(workflow.vars, name);
    const path = "message" in written ? findVar(template, name) : written;
    if (!("message" in path)) {
      template = setVars(template, [{ path, value }]);
      continue;
    }
    const error = new UsageError(`option --var: ${path.message}`, path.hint);
    if (!onUnknown) throw error;
    onUnknown(name, () => error);
  }
  return { ...workflow, vars: template };
}

/** A value with the dotted name that it was given for. */
interface NamedValue {
  readonly name: string;
  readonly value: Value;
}

const FORMS = "write --var name=value, or --var name:=json";

/**
 * Reads `name=value`, where a number, `true` and the like are what they are in YAML, or
 * `name:=json`. Throws UsageError, which never quotes the value: it may be a secret.
 */
async function parseVar(text: string): Promise<NamedValue> {
  const equals = text.indexOf("=");
  if (equals < 0) {
    const [shown] = /^[\w.-]*/.exec(text)!;
    throw new UsageError(`option --var needs a name and a value, and got only "${shown}"`, FORMS);
  }
  const isJson = text[equals - 1] === ":";
  const name = text.slice(0, isJson ? equals - 1 : equals);
  if (name.split(".").includes("")) {
    throw new UsageError(`option --var cannot set "${name}"`, FORMS);
  }
  const written = text.slice(equals + 1);
  return { name, value: isJson ? readJson(name, written) : await readScalar(written) };
}

function readJson(name: string, text: string): Value {
  const value = tryParseJson(text);
  if (value !== undefined) return value;
  const hint = `a text is given by --var ${name}=text, or in double quotes`;
  throw new UsageError(`option --var ${name}:= is not valid JSON`, hint);
}

const NOTHING = /^(?:~|null|Null|NULL)$/;
/** Texts that YAML may read as a value of another type. */
const TYPED = /^(?:[-+.\w]+|"[^]*"|'[^]*')$/;

/** A number to the base of eight for YAML; hardly for people, whose zip codes begin like this. */
const OCTAL = /^[-+]?0[\d_]+$/;

/**
 * A text as YAML types it. Nothing at all is an empty text here, and digits after a zero are text
 * too.
 */
async function readScalar(text: string): Promise<Value> {
  if (NOTHING.test(text)) return null;
  if (!TYPED.test(text) || OCTAL.test(text)) return text;
  try {
    const { value } = await readYaml([{ name: "--var", text }]);
    return typeof value === "object" ? text : value as Value;
  } catch (error) {
    // Quotes that are not a pair, as in "a" or "b": it is plain text.
    if (error instanceof LoadError) return text;
    throw error;
  }
}

/** Vars in a file, YAML or JSON. */
interface VarFile {
  readonly document: Document;
  readonly vars: Dict;
  readonly warnings: readonly Diagnostic[];
}

const NO_TEMPLATES = "templates are evaluated in the vars of the workflow alone";

/** Reads the values of a file for vars. Throws LoadError if it is not a mapping of data. */
async function readVarFile(source: Source): Promise<VarFile> {
  const document = await readYaml([source], "var file");
  const { value } = document;
  const { fault, unquoted } = inspectValue(value);
  if (fault) throw varFileError(document, [fault]);
  if (!isDict(value)) {
    const message = `a var file must be a map of names to values, not ${describeValue(value)}`;
    throw varFileError(document, [{ path: [], message }]);
  }
  if (unquoted.length > 0) {
    const message = "YAML reads {{ }} without quotes as a map";
    const problems = unquoted.map((path) => ({ path, message, hint: NO_TEMPLATES }));
    throw varFileError(document, problems);
  }
  const problems: Problem[] = [];
  warnOfTemplates(problems, value, []);
  await warnOfOddNumbers(problems, document);
  const warnings = problems.length === 0 ? [] : locateDiagnostics(problems, document);
  return { document, vars: value, warnings };
}

/** The error for names in a file that are not vars of the workflow. */
function unknownVarsError(
  { document }: VarFile,
  problems: readonly VarProblem[],
): LoadError {
  return varFileError(document, problems.map((problem) => ({ ...problem, part: "key" })));
}

function varFileError(
  document: Document,
  found: readonly Omit<Problem, "severity" | "code">[],
): LoadError {
  const problems = found.map((problem): Problem => ({
    ...problem,
    severity: "error",
    code: "var-file",
  }));
  const diagnostics = locateDiagnostics(problems, document);
  return new LoadError(
    `var file '${document.name}' has ${countOf(found.length, "error")}`,
    diagnostics,
  );
}

function warnOfTemplates(problems: Problem[], value: unknown, path: Path): void {
  if (typeof value === "string") {
    if (!holdsTemplate(value)) return;
    const message = "braces in a var file are plain text";
    addWarning(problems, "var-file", path, message, { hint: NO_TEMPLATES });
  } else if (Array.isArray(value)) {
    value.forEach((item, index) => warnOfTemplates(problems, item, [...path, index]));
  } else if (isDict(value)) {
    for (const [key, part] of Object.entries(value)) {
      warnOfTemplates(problems, part, [...path, key]);
    }
  }
}
