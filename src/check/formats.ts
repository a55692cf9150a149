import { countOf } from "../base/text/count_of.ts";
import { renderMasked, type Severity } from "../base/diagnostic.ts";
import { assertNever } from "../base/errors.ts";
import { type AnnotationLevel, renderAnnotation } from "../base/text/github_command.ts";
import { printableLine } from "../base/text/printable.ts";
import { excerptOf, maskExcerpt, type SourceExcerpt } from "../base/source.ts";
import type { CheckedFile } from "./check_file.ts";

/** The options for writing findings. */
interface FindingFormat {
  readonly name: string;
  /** Whether it reports files that could not be read; otherwise that is an error on stderr. */
  readonly reportsRefusals: boolean;
  readonly make: () => FindingWriter;
}

/** Renders the findings of a run of `check`. */
interface FindingWriter {
  file(file: CheckedFile, options: WriteOptions): string;
  end(tally: CheckTally): string;
}

export interface WriteOptions {
  /** Takes secrets out of a text. */
  readonly mask: (text: string) => string;
  /** Columns of the terminal; undefined where the text goes elsewhere. */
  readonly columns: number | undefined;
  /** The path of a file as GitHub knows it. */
  readonly fromRoot: (path: string) => string;
}

/** The number of checked files and of findings. */
export interface CheckTally extends Readonly<Record<Severity, number>> {
  readonly workflows: number;
  /** Job files that were checked by themselves, not with the workflows that embed them. */
  readonly jobFiles: number;
}

/** A finding of a file, as data. */
interface Finding {
  readonly severity: Severity;
  readonly code: string;
  readonly message: string;
  readonly hint?: string;
  readonly file: string;
  readonly location?: SourceExcerpt;
}

/** All forms of output. */
export const FINDING_FORMATS: readonly FindingFormat[] = [
  {
    name: "text",
    reportsRefusals: false,
    make: () => ({
      file: ({ diagnostics }, { mask, columns }) =>
        diagnostics.map((each) => renderMasked(each, mask, columns) + "\n").join(""),
      end: (tally) => summaryLine(tally) + "\n",
    }),
  },
  {
    name: "json",
    reportsRefusals: true,
    make: () => {
      const records: unknown[] = [];
      return {
        file: (file, options) => {
          for (const finding of findingsOf(file, options)) records.push(recordOf(finding));
          return "";
        },
        end: () => JSON.stringify(records, null, 2) + "\n",
      };
    },
  },
  {
    name: "github",
    reportsRefusals: true,
    make: () => ({
      file: (file, options) =>
        findingsOf(file, options).map((finding) => annotate(finding, options.fromRoot)).join(""),
      end: () => "",
    }),
  },
];

/** The findings of a file without secrets; why it could not be read is one of them. */
function findingsOf(
  { name, refusal, diagnostics }: CheckedFile,
  { mask }: WriteOptions,
): readonly Finding[] {
  const reported = refusal && diagnostics.length === 0
    ? [{ severity: "error" as const, code: "file", message: refusal.message, hint: refusal.hint }]
    : diagnostics;
  return reported.map(({ severity, code, message, hint, ...rest }) => {
    const location = "span" in rest && rest.span
      ? maskExcerpt(excerptOf(rest.span), mask)
      : undefined;
    return {
      severity,
      code,
      message: mask(message),
      ...hint === undefined ? {} : { hint: mask(hint) },
      file: location?.file ?? name,
      ...location ? { location } : {},
    };
  });
}

function recordOf({ severity, code, message, hint, file, location }: Finding): unknown {
  const { line = null, column = null } = location ?? {};
  return { file, line, column, severity, code, message, hint: hint ?? null };
}

function annotate(
  { severity, code, message, hint, file, location }: Finding,
  fromRoot: (path: string) => string,
): string {
  return renderAnnotation({
    level: levelOf(severity),
    title: code,
    message: [message, hint ?? []].flat().map(printableLine).join("\n"),
    location: { ...location, file: printableLine(fromRoot(file)) },
  });
}

function levelOf(severity: Severity): AnnotationLevel {
  switch (severity) {
    case "error":
    case "warning":
      return severity;
    case "hint":
      return "notice";
    default:
      return assertNever(severity);
  }
}

/** `3 workflows and 1 job file checked: 1 error, 2 warnings, 4 hints`. */
function summaryLine({ workflows, jobFiles, error, warning, hint }: CheckTally): string {
  const checked = [
    ...workflows > 0 || jobFiles === 0 ? [countOf(workflows, "workflow")] : [],
    ...jobFiles > 0 ? [countOf(jobFiles, "job file")] : [],
  ].join(" and ");
  const counts = [[error, "error"], [warning, "warning"], [hint, "hint"]] as const;
  const found = counts.flatMap(([count, word]) => count === 0 ? [] : countOf(count, word));
  return `${checked} checked: ${found.join(", ") || "ok"}`;
}
