import { countOf } from "../base/text/count_of.ts";
import type { DataTemplate, Template } from "../expr/expression.ts";
import type { Host } from "../host/host.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import { LoadError } from "../base/errors.ts";
import type { Path } from "../base/source.ts";
import { type Dict, isDict } from "../base/value/value.ts";
import { decodeDocument } from "../workflow/decode/decode_document.ts";
import { decodeFields, type Decoding } from "../workflow/decode/decode_fields.ts";
import { decodeDefaults } from "../workflow/decode/decode_step.ts";
import { decodeMatrixValues } from "../workflow/decode/decode_matrix.ts";
import { checkTags } from "../workflow/decode/decode_workflow.ts";
import { readLimits } from "../workflow/limits.ts";
import { locateAll } from "../workflow/locate_diagnostics.ts";
import type { Document } from "../workflow/model.ts";
import { hasErrors } from "../workflow/problem.ts";
import { ONE_OR_MANY, SUITE, SUITE_ENTRY, SUITE_MATRIX } from "./suite_fields.ts";

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
}

/** Decodes a suite file. `suite` is undefined where it has errors. */
export async function decodeSuite(document: Document, host: Host): Promise<DecodedSuite> {
  const decoded = await decodeDocument(decode, document, readLimits(host.env), host);
  const { draft, problems } = decoded;
  const diagnostics = locateAll([{ ...decoded, document }]);
  return { suite: hasErrors(problems) ? undefined : draft, diagnostics };
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

function decode(document: Document, decoding: Decoding): SuiteDocument | undefined {
  const fields = decodeFields(asLists(document.value), [], SUITE, decoding);
  if (!fields) return undefined;
  const { name, workflows = [], vars, defaults, workers } = fields;
  return {
    document,
    name,
    vars,
    // Only those that are right: each workflow would report the others again.
    defaults: defaults &&
      Object.fromEntries(decodeDefaults(defaults, ["defaults"], decoding)),
    workers,
    entries: workflows.flatMap((entry, index) =>
      decodeEntry(entry, ["workflows", index], decoding) ?? []
    ),
    envFiles: fields.env_file ?? [],
    setup: fields.setup ?? [],
    teardown: fields.teardown ?? [],
    report: fields.report ?? [],
  };
}

function decodeEntry(value: unknown, at: Path, decoding: Decoding): SuiteEntry | undefined {
  if (typeof value === "string" && value.trim() !== "") return { path: value, at, isMap: false };
  const fields = decodeFields(value, at, SUITE_ENTRY, decoding);
  if (fields?.path === undefined) return undefined;
  const { path, name, matrix, vars, tags } = fields;
  checkTags(tags, [...at, "tags"], decoding.problems);
  const decoded = matrix === undefined
    ? undefined
    : decodeMatrixValues(matrix, [...at, "matrix"], decoding, SUITE_MATRIX);
  return { path, at, isMap: true, name, matrix: decoded?.values, vars, tags };
}

/** One text is as good as a list of one. */
function asLists(value: unknown): unknown {
  if (!isDict(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, part]) => [
      key,
      ONE_OR_MANY.includes(key) && typeof part === "string" ? [part] : part,
    ]),
  );
}
