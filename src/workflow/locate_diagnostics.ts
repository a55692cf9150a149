import { countOf } from "../base/text/count_of.ts";
import type { Diagnostic } from "../base/diagnostic.ts";
import { LoadError } from "../base/errors.ts";
import { type Span, spanInFile } from "../base/source.ts";
import { positionsOf } from "../base/yaml/positions.ts";
import { inheritedPath } from "./read_files.ts";
import type { Document, Positions } from "./model.ts";
import { MAX_PROBLEMS, type Problem, UNQUOTED_TEMPLATE } from "./problem.ts";

/** All that is wrong with a document, and with the job files that it embeds. */
export function loadError(
  problems: readonly Problem[],
  document: Document,
  inJobFiles: readonly Diagnostic[] = [],
): LoadError {
  const located = locateDiagnostics(problems, document);
  const here = countErrors(located.length > MAX_PROBLEMS ? problems : located);
  const there = countErrors(inJobFiles);
  const message = there === 0
    ? `workflow file '${document.name}' has ${countOf(here, "error")}`
    : here === 0
    ? `the job files of workflow file '${document.name}' have ${countOf(there, "error")}`
    : `workflow file '${document.name}' has ${countOf(here, "error")}, and its job files ${there}`;
  return new LoadError(message, [...located, ...inJobFiles]);
}

/** The problems of several documents, each with its position. */
export function locateAll(
  found: readonly { readonly document: Document; readonly problems: readonly Problem[] }[],
): readonly Diagnostic[] {
  return found.flatMap(({ document, problems }) => locateDiagnostics(problems, document));
}

function countErrors(diagnostics: readonly Pick<Diagnostic, "severity">[]): number {
  return diagnostics.filter(({ severity }) => severity === "error").length;
}

/** Drops problems that are consequences of an unquoted template, which YAML reads as a mapping. */
function withoutConsequences(problems: readonly Problem[], root: unknown): readonly Problem[] {
  const unquoted = problems.filter(({ code }) => code === UNQUOTED_TEMPLATE);
  if (unquoted.length === 0) return problems;
  return problems.filter((problem) => {
    const written = inheritedPath(root, problem.path);
    return problem.code === UNQUOTED_TEMPLATE ||
      !unquoted.some(({ path }) => path.every((part, index) => written[index] === part));
  });
}

/**
 * The problems with their positions, in the order of the files, each position and message once.
 * Beside an error, a warning about the very same text is left out. Of very many those that
 * were found first are located, errors before others.
 */
export function locateDiagnostics(
  found: readonly Problem[],
  document: Document,
): readonly Diagnostic[] {
  if (found.length === 0) return [];
  const all = withoutConsequences(found, document.value);
  const rest = all.length - MAX_PROBLEMS;
  const errors = all.filter(({ severity }) => severity === "error");
  const problems = rest <= 0
    ? all
    : [...errors, ...all.filter(({ severity }) => severity !== "error")].slice(0, MAX_PROBLEMS);
  const wrong = new Set(errors.flatMap((problem) => problem.range ? markOf(problem) : []));
  const positions = positionsOf(document);
  const distinct = new Map<string, Located>();
  for (const problem of problems) {
    if (problem.severity !== "error" && wrong.has(markOf(problem))) continue;
    const diagnostic = locateDiagnostic(problem, positions);
    const { source, start } = spanInFile(diagnostic.span!);
    const file = document.files.indexOf(source);
    const key = JSON.stringify([file, start, diagnostic.message, diagnostic.severity]);
    if (!distinct.has(key)) distinct.set(key, { diagnostic, file, start });
  }
  const located = [...distinct.values()]
    .sort((a, b) => a.file - b.file || a.start - b.start)
    .map(({ diagnostic }) => diagnostic);
  if (rest <= 0) return located;
  const message = `at least ${rest} more ${rest === 1 ? "problem is" : "problems are"} not shown`;
  const severity = errors.length > 0 ? "error" : "warning";
  return [...located, { severity, code: "size", message }];
}

interface Located {
  readonly diagnostic: Diagnostic;
  /** The index of its file, and the offset in it. */
  readonly file: number;
  readonly start: number;
}

/** The text that is marked, for those that mark a part of one. */
function markOf({ path, range }: Problem): string {
  return JSON.stringify([path, range]);
}

function locateDiagnostic(
  { path, part, range, ...rest }: Problem,
  positions: Positions,
): Diagnostic {
  const source = range && positions.text(path);
  if (!source) return { ...rest, span: positions.locate(path, part) };
  const hint = cutHint(rest.message, source.origin) ?? rest.hint;
  return { ...rest, hint, span: { source, ...range } };
}

/** An expression that stops in its middle was often cut by YAML syntax. */
function cutHint(message: string, origin: Span | undefined): string | undefined {
  if (!origin || !/^(unexpected end|unterminated)/.test(message)) return undefined;
  const { source: { text }, start, end } = origin;
  if (/["']/.test(text.charAt(start))) return undefined;
  const next = text.slice(end, end + 100);
  const cause = CUTS.find(({ next: pattern }) => pattern.test(next));
  return cause && `${cause.why}: put the whole value in quotes`;
}

const CUTS: readonly { readonly next: RegExp; readonly why: string }[] = [
  { next: /^[ \t]+#/, why: '" #" begins a comment in YAML' },
  { next: /^\s*,/, why: 'inside of { } and [ ] a "," ends the value' },
];
