import type { Diagnostic } from "../source/diagnostic.ts";
import { type Path, type Span, spanInFile } from "../source/source.ts";
import type { Document, Places } from "./model.ts";

/** A mistake in a document, by its path: the place is looked up only if it is to be shown. */
export interface Problem extends Omit<Diagnostic, "span"> {
  readonly path: Path;
  /** What to mark: the value at the path unless told otherwise. */
  readonly part?: "key" | "value";
  /** What to mark in the text at the path. */
  readonly range?: { readonly start: number; readonly end: number };
}

/** What else can be said of a problem. */
export type ProblemDetails = Partial<Pick<Problem, "hint" | "part" | "range">>;

/** Adds an error, which keeps the workflow from running. */
export function addError(
  problems: Problem[],
  code: string,
  path: Path,
  message: string,
  details: ProblemDetails = {},
): void {
  problems.push({ severity: "error", code, path, message, ...details });
}

/** Adds a warning, with which the workflow runs nevertheless. */
export function addWarning(
  problems: Problem[],
  code: string,
  path: Path,
  message: string,
  details: ProblemDetails = {},
): void {
  problems.push({ severity: "warning", code, path, message, ...details });
}

/** The problems with their places, in the order of the files, each place and message once. */
export async function locateProblems(
  problems: readonly Problem[],
  document: Document,
): Promise<readonly Diagnostic[]> {
  if (problems.length === 0) return [];
  const places = await document.places();
  const found = new Map<string, { readonly diagnostic: Diagnostic; readonly order: Order }>();
  for (const problem of problems) {
    const diagnostic = locateProblem(problem, places);
    const { source, start } = spanInFile(diagnostic.span!);
    const order = { file: document.files.indexOf(source), start };
    const key = JSON.stringify([order, diagnostic.message, diagnostic.severity]);
    if (!found.has(key)) found.set(key, { diagnostic, order });
  }
  return [...found.values()]
    .sort((a, b) => a.order.file - b.order.file || a.order.start - b.order.start)
    .map(({ diagnostic }) => diagnostic);
}

interface Order {
  readonly file: number;
  readonly start: number;
}

function locateProblem({ path, part, range, ...rest }: Problem, places: Places): Diagnostic {
  const source = range && places.text(path);
  if (!source) return { ...rest, span: places.locate(path, part) };
  const hint = cutHint(rest.message, source.origin) ?? rest.hint;
  return { ...rest, ...hint === undefined ? {} : { hint }, span: { source, ...range } };
}

/** An expression that stops in its middle was often cut by what means something in YAML. */
function cutHint(message: string, origin: Span | undefined): string | undefined {
  if (!origin || !/^unexpected end|never closed$/.test(message)) return undefined;
  const next = origin.source.text.slice(origin.end, origin.end + 100);
  const cause = CUTS.find(({ next: pattern }) => pattern.test(next));
  return cause && `${cause.why}: put the whole value in quotes`;
}

const CUTS: readonly { readonly next: RegExp; readonly why: string }[] = [
  { next: /^[ \t]+#/, why: '" #" begins a comment in YAML' },
  { next: /^\s*,/, why: 'inside of { } and [ ] a "," ends the value' },
];
