import { countOf } from "../base/text/count_of.ts";
import type { DataTemplate, Template } from "../expr/expression.ts";
import type { Host } from "../host/host.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import { LoadError } from "../base/errors.ts";
import type { Path } from "../base/source.ts";
import { integer, list, map, readFields, type Rule, text } from "../action/rule.ts";
import type { Dict, Value } from "../base/value/value.ts";
import { type DecodedDocument, decodeDocument } from "../workflow/decode/decode_document.ts";
import { matrix, matrixMaps } from "../workflow/decode/decode_matrix.ts";
import { defaults } from "../workflow/decode/decode_step.ts";
import { tags } from "../workflow/decode/decode_workflow.ts";
import { IN_SUITE_NAME, IN_WORKFLOW_VARS } from "../workflow/decode/expressions.ts";
import {
  data,
  type Decoding,
  Key,
  names,
  record,
  rule,
  template,
  valueOr,
} from "../workflow/decode/key.ts";
import { readLimits } from "../workflow/limits.ts";
import { locateAll } from "../workflow/locate_diagnostics.ts";
import type { Document } from "../workflow/model.ts";
import { hasErrors } from "../workflow/problem.ts";

/** The content of a suite file, with its paths as written. */
export interface SuiteDocument {
  readonly document: Document;
  readonly name?: string;
  readonly entries: readonly SuiteEntry[];
  readonly vars?: DataTemplate;
  readonly defaults?: Dict;
  readonly envFiles: readonly string[];
  readonly setup: readonly string[];
  readonly teardown: readonly string[];
  readonly workers?: number;
  readonly report: readonly string[];
}

/** One of the workflows that it lists. */
export interface SuiteEntry {
  readonly path: string;
  readonly at: Path;
  /** Whether it is a map, which says more than the path. */
  readonly isMap: boolean;
  readonly name?: Template;
  readonly matrix?: DataTemplate;
  readonly vars?: DataTemplate;
  readonly tags?: readonly string[];
}

/** A suite file and its problems. */
interface DecodedSuite {
  readonly suite?: SuiteDocument;
  readonly diagnostics: readonly Diagnostic[];
  readonly uses: DecodedDocument<unknown>["uses"];
}

/** Decodes a suite file. `suite` is undefined where it has errors. */
export async function decodeSuite(document: Document, host: Host): Promise<DecodedSuite> {
  const decoded = await decodeDocument(decode, document, readLimits(host.env), host);
  const { draft, problems, uses } = decoded;
  const diagnostics = locateAll([{ ...decoded, document }]);
  return { suite: hasErrors(problems) ? undefined : draft, diagnostics, uses };
}

/** The same for a suite that is to run. Throws LoadError with everything that is wrong with it. */
export async function loadSuiteFile(
  document: Document,
  host: Host,
): Promise<{ readonly suite: SuiteDocument; readonly warnings: readonly Diagnostic[] }> {
  const { suite, diagnostics } = await decodeSuite(document, host);
  if (suite) {
    return { suite, warnings: diagnostics.filter(({ severity }) => severity === "warning") };
  }
  const errors = diagnostics.filter(({ severity }) => severity === "error").length;
  throw new LoadError(
    `suite file '${document.name}' has ${countOf(errors, "error")}`,
    diagnostics,
  );
}

const entryMap = map({
  path: text("A file, a directory or a pattern.").with({ namesFile: "yaml" }).required(),
  name: template(
    "Shown in reports in place of the name of the workflow; before the names of the " +
      "workflows of a directory or a pattern.",
    IN_SUITE_NAME,
  ),
  matrix: matrix(
    matrixMaps(IN_WORKFLOW_VARS),
    "Runs it once for each combination of values, which `name` and `vars` read as `matrix`.",
    IN_WORKFLOW_VARS,
  ),
  vars: data(
    "Vars of this workflow; they take precedence over those of the suite.",
    IN_WORKFLOW_VARS,
  ),
  tags: tags("Tags of all its jobs, in addition to their own."),
}, "");

/** A workflow of a suite: a path, or a map. */
const entry = rule({
  type: ["string", "map"],
  summary: "",
  fields: entryMap.form.fields!,
  key: { what: "a workflow of the suite", title: "Suite file: an item of `workflows`" },
}, (value, key): SuiteEntry => {
  const at = key.path;
  if (typeof value === "string" && value.trim() !== "") return { path: value, at, isMap: false };
  const { matrix, ...rest } = entryMap.parse(value, key);
  return { ...rest, at, isMap: true, matrix: matrix?.values };
});

/** A list of texts; one text is as good as a list of one. */
function oneOrMany(summary: string): Rule<readonly string[]> {
  const base = names(summary);
  const form = { ...base.form, type: ["string", "list"] as const };
  return rule(form, (value, key) => typeof value === "string" ? [value] : base.parse(value, key));
}

const SUITE_KEYS = {
  name: text("Shown at the top of the report."),
  workflows: list(
    entry,
    "Workflow files, directories and patterns, as text or as maps with `path`; " +
      "relative to the suite file.",
  ).required(),
  vars: data(
    "Added to the vars of each workflow, or replace the var of that name.",
    IN_WORKFLOW_VARS,
  ),
  defaults: defaults(
    "Default values of `with` in all workflows, by the name of the action; those of a job take precedence.",
  ),
  env_file: oneOrMany("Files with NAME=value lines that `vars` can read."),
  setup: oneOrMany(
    "Workflow files that run first; all others can read their outputs by step id.",
  ),
  teardown: oneOrMany("Workflow files that always run last."),
  workers: integer("How many workflows run at once.", { min: 1 })
    .with({ default: "one for each processor, at most 4" }),
  report: oneOrMany(
    "Reports to write, such as `junit=out/junit.xml`, unless `--report` is given.",
  ),
};

/** A suite file. */
export const SUITE = record(
  SUITE_KEYS,
  "",
  (map, key) => readFields(SUITE_KEYS, map, key).values,
).key({ what: "the suite", title: "Suite file" });

function decode(document: Document, decoding: Decoding): SuiteDocument | undefined {
  const fields = valueOr(() => SUITE.read(document.value as Value, new Key(decoding)));
  if (!fields) return undefined;
  const { name, vars, workers, workflows: entries = [], defaults } = fields;
  const { env_file: envFiles = [], setup = [], teardown = [], report = [] } = fields;
  return {
    ...{ document, name, vars, workers, entries, envFiles, setup, teardown, report },
    // Only valid ones: each workflow would report the others again.
    defaults: defaults && Object.fromEntries(defaults),
  };
}
