import type { Diagnostic } from "../base/diagnostic.ts";
import { LoadError } from "../base/errors.ts";
import { type Path, type Span, spanInFile } from "../base/source.ts";
import { inheritedPath } from "./parse_document.ts";
import type { Document, Positions } from "./model.ts";
import { MAX_PROBLEMS, type Problem, UNQUOTED_TEMPLATE } from "./problem.ts";

/**
 * All that is wrong with a document, and with the job files that it embeds. `unquoted` are the
 * mappings that should be templates.
 */
export async function loadError(
  problems: readonly Problem[],
  unquoted: readonly Path[],
  document: Document,
  inJobFiles: readonly Diagnostic[] = [],
): Promise<LoadError> {
  const located = await locateDiagnostics(
    withoutConsequences(problems, unquoted, document.value),
    document,
  );
  const here = countErrors(located.length > MAX_PROBLEMS ? problems : located);
  const there = countErrors(inJobFiles);
  const message = there === 0
    ? `workflow file '${document.name}' has ${errorsOf(here)}`
    : here === 0
    ? `the job files of workflow file '${document.name}' have ${errorsOf(there)}`
    : `workflow file '${document.name}' has ${errorsOf(here)}, and its job files ${there}`;
  return new LoadError(message, [...located, ...inJobFiles]);
}

/** The problems of documents decoded one after the other, each with its positions. */
export async function locateAll(found: readonly Findings[]): Promise<readonly Diagnostic[]> {
  const located: Diagnostic[] = [];
  for (const { problems, unquoted, document } of found) {
    if (problems.length === 0) continue;
    const causes = withoutConsequences(problems, unquoted, document.value);
    // Too many for a spread, which puts each of them on the stack.
    for (const diagnostic of await locateDiagnostics(causes, document)) located.push(diagnostic);
  }
  return located;
}

/** The findings of a document. */
interface Findings {
  readonly document: Document;
  readonly problems: readonly Problem[];
  readonly unquoted: readonly Path[];
}

function countErrors(diagnostics: readonly Pick<Diagnostic, "severity">[]): number {
  return diagnostics.filter(({ severity }) => severity === "error").length;
}

function errorsOf(count: number): string {
  return count === 1 ? "1 error" : `${count} errors`;
}

/** Drops problems that are consequences of an unquoted template read as a mapping. */
function withoutConsequences(
  problems: readonly Problem[],
  unquoted: readonly Path[],
  root: unknown,
): readonly Problem[] {
  if (unquoted.length === 0) return problems;
  return problems.filter(({ code, path }) => {
    const written = inheritedPath(root, path);
    return code === UNQUOTED_TEMPLATE ||
      !unquoted.some((mapping) => mapping.every((part, index) => written[index] === part));
  });
}

/**
 * The problems with their positions, in the order of the files, each place and message once. Where
 * there is an error, a warning about the very same text is left out. Of very many those that were
 * found first are located, errors before others.
 */
export async function locateDiagnostics(
  all: readonly Problem[],
  document: Document,
): Promise<readonly Diagnostic[]> {
  if (all.length === 0) return [];
  const rest = all.length - MAX_PROBLEMS;
  const isError = ({ severity }: Problem) => severity === "error";
  const problems = rest <= 0
    ? all
    : [...all.filter(isError), ...all.filter((each) => !isError(each))].slice(0, MAX_PROBLEMS);
  const positions = await document.positions();
  const found = new Map<string, Located>();
  const wrong = new Set<string>();
  for (const problem of problems) {
    const diagnostic = locateDiagnostic(problem, positions);
    const { source, start } = spanInFile(diagnostic.span!);
    const order = { file: document.files.indexOf(source), start };
    const key = JSON.stringify([order, diagnostic.message, diagnostic.severity]);
    if (!found.has(key)) found.set(key, { problem, diagnostic, order });
    if (problem.range && problem.severity === "error") wrong.add(markOf(problem));
  }
  const located = [...found.values()]
    .filter(({ problem }) => problem.severity === "error" || !wrong.has(markOf(problem)))
    .sort((a, b) => a.order.file - b.order.file || a.order.start - b.order.start)
    .map(({ diagnostic }) => diagnostic);
  if (rest <= 0) return located;
  const message = `at least ${rest} more ${rest === 1 ? "problem is" : "problems are"} not shown`;
  return [...located, { severity: all.some(isError) ? "error" : "warning", code: "size", message }];
}

interface Located {
  readonly problem: Problem;
  readonly diagnostic: Diagnostic;
  readonly order: Order;
}

/** The text that is marked, for those that mark a part of one. */
function markOf({ path, range }: Problem): string {
  return JSON.stringify([path, range]);
}

interface Order {
  readonly file: number;
  readonly start: number;
}

function locateDiagnostic(
  { path, part, range, ...rest }: Problem,
  positions: Positions,
): Diagnostic {
  const source = range && positions.text(path);
  if (!source) return { ...rest, span: positions.locate(path, part) };
  const hint = cutHint(rest.message, source.origin) ?? rest.hint;
  return { ...rest, ...hint === undefined ? {} : { hint }, span: { source, ...range } };
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
