import { holdsTemplate } from "../../expr/template/template_data.ts";
import type { VarProblem } from "../../plan/set_vars.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { LoadError } from "../../base/errors.ts";
import type { Path, Source } from "../../base/source.ts";
import { describeValue, type Dict, isDict } from "../../base/value/value.ts";
import { inspectValue, warnOfLeadingZeros } from "../../workflow/decode/inspect_value.ts";
import type { Document } from "../../workflow/model.ts";
import { addWarning, type Problem } from "../../workflow/problem.ts";
import { locateDiagnostics } from "../../workflow/locate_diagnostics.ts";
import { readYaml } from "../../base/yaml/read_yaml.ts";

/** Vars in a file, YAML or JSON. */
export interface VarFile {
  readonly document: Document;
  readonly vars: Dict;
  readonly warnings: readonly Diagnostic[];
}

const NO_TEMPLATES = "templates are evaluated in the vars of the workflow alone";

/** Reads the values of a file for vars. Throws LoadError if it is not a mapping of data. */
export async function readVarFile(source: Source): Promise<VarFile> {
  const document = await readYaml([source], "var file");
  const { value } = document;
  const { fault, unquoted } = inspectValue(value);
  if (fault) throw await varFileError(document, [fault]);
  if (!isDict(value)) {
    const message = `a var file must be a map of names to values, not ${describeValue(value)}`;
    throw await varFileError(document, [{ path: [], message }]);
  }
  if (unquoted.length > 0) {
    const message = "YAML reads {{ }} without quotes as a map";
    const problems = unquoted.map((path) => ({ path, message, hint: NO_TEMPLATES }));
    throw await varFileError(document, problems);
  }
  const problems: Problem[] = [];
  warnOfTemplates(problems, value, []);
  await warnOfLeadingZeros(problems, document);
  const warnings = problems.length === 0 ? [] : await locateDiagnostics(problems, document);
  return { document, vars: value, warnings };
}

/** The error for names in a file that are not vars of the workflow. */
export function unknownVarsError(
  { document }: VarFile,
  problems: readonly VarProblem[],
): Promise<LoadError> {
  return varFileError(document, problems.map((problem) => ({ ...problem, part: "key" })));
}

async function varFileError(
  document: Document,
  found: readonly Omit<Problem, "severity" | "code">[],
): Promise<LoadError> {
  const problems = found.map((problem): Problem => ({
    ...problem,
    severity: "error",
    code: "var-file",
  }));
  const count = found.length === 1 ? "1 error" : `${found.length} errors`;
  const diagnostics = await locateDiagnostics(problems, document);
  return new LoadError(`var file '${document.name}' has ${count}`, diagnostics);
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
