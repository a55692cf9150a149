import { holdsTemplate } from "../expr/plain_template.ts";
import type { VarProblem } from "../plan/set_vars.ts";
import type { Diagnostic } from "../source/diagnostic.ts";
import { LoadError } from "../source/errors.ts";
import type { Path, Source } from "../source/source.ts";
import { describeValue } from "../value/describe_value.ts";
import { type Dict, isDict } from "../value/value.ts";
import { inspectValue } from "../workflow/inspect_value.ts";
import type { Document } from "../workflow/model.ts";
import { readYaml } from "../workflow/read_yaml.ts";

/** Vars in a file, YAML or JSON. */
export interface VarFile {
  readonly document: Document;
  readonly vars: Dict;
  readonly warnings: readonly Diagnostic[];
}

const NO_TEMPLATES = "templates are evaluated in the vars of the workflow alone";

/** Reads the values of a file for vars. Throws LoadError where it is no mapping of data. */
export async function readVarFile(source: Source): Promise<VarFile> {
  const document = await readYaml([source], "var file");
  const { value } = document;
  const { fault, unquoted, expressions } = inspectValue(value);
  if (fault) throw await varFileError(document, [fault]);
  if (!isDict(value)) {
    const message = `a var file must be a mapping of names to values, not ${describeValue(value)}`;
    throw await varFileError(document, [{ path: [], message }]);
  }
  if (unquoted.length > 0) {
    const message = "YAML reads {{ }} without quotes as a mapping";
    const problems = unquoted.map((path) => ({ path, message, hint: NO_TEMPLATES }));
    throw await varFileError(document, problems);
  }
  const warnings = expressions ? await warnOfTemplates(document) : [];
  return { document, vars: value, warnings };
}

/** The error that tells of names in a file that are no vars of the workflow. */
export function unknownVarsError(
  { document }: VarFile,
  problems: readonly VarProblem[],
): Promise<LoadError> {
  return varFileError(document, problems.map((problem) => ({ ...problem, part: "key" })));
}

interface Problem {
  readonly path: Path;
  readonly message: string;
  readonly hint?: string;
  readonly part?: "key" | "value";
}

async function varFileError(
  document: Document,
  problems: readonly Problem[],
): Promise<LoadError> {
  const places = await document.places();
  const count = problems.length === 1 ? "1 error" : `${problems.length} errors`;
  return new LoadError(
    `var file '${document.name}' has ${count}`,
    problems.map(({ path, part, ...rest }) => ({
      ...rest,
      severity: "error",
      code: "var-file",
      span: places.locate(path, part),
    })),
  );
}

async function warnOfTemplates(document: Document): Promise<readonly Diagnostic[]> {
  const places = await document.places();
  return [...pathsOfTemplates(document.value, [])].map((path) => ({
    severity: "warning",
    code: "var-file",
    message: "braces in a var file are text as they are",
    hint: NO_TEMPLATES,
    span: places.locate(path),
  }));
}

function* pathsOfTemplates(value: unknown, path: Path): Generator<Path> {
  if (typeof value === "string") {
    if (holdsTemplate(value)) yield path;
  } else if (typeof value === "object" && value !== null) {
    for (const [key, part] of Object.entries(value)) {
      yield* pathsOfTemplates(part, [...path, Array.isArray(value) ? Number(key) : key]);
    }
  }
}
