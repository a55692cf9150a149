import { shellWord } from "../base/text/shell_word.ts";
import { type Diagnostic, renderMasked } from "../base/diagnostic.ts";
import { LoadError, RunnerError, UsageError } from "../base/errors.ts";
import { MAX_ANNOTATIONS, pathsFromRoot } from "../base/text/github_command.ts";
import { printable, printableLine } from "../base/text/printable.ts";
import { wrapWords } from "../base/text/display_width.ts";
import { FINDING_FORMATS } from "../check/formats.ts";
import { makeSecretMask } from "../check/mask_secrets.ts";
import type { Draws } from "../expr/draws.ts";
import { explainDenial } from "../host/explain_denial.ts";
import type { Host } from "../host/host.ts";
import { OutputError } from "../host/output.ts";
import { makeMasker } from "../secrets/find_secrets.ts";
import type { Program } from "./command.ts";
import type { LogLevel } from "./output_mode.ts";

/** Secrets besides those of the environment. */
type Secrets = Program["secrets"];

/** The message for an error: for users, with its place; for our own bugs, all details. */
export function explainError(thrown: unknown, host: Host, secrets: Secrets = []): string {
  const error = asRunnerError(thrown);
  const diagnostics = error instanceof LoadError ? error.diagnostics : [];
  const mask = maskOf(host, secrets, diagnostics);
  if (!(error instanceof RunnerError)) {
    const stack = error instanceof Error ? error.stack ?? error.message : String(error);
    return printable(mask(`runner: internal error, please report it: ${stack}\n`));
  }
  const columns = columnsOf(host);
  const fit = (text: string) => columns === undefined ? [text] : wrapWords(text, columns);
  const lines = fit(`runner: error: ${printableLine(mask(error.message))}`);
  const hint = error.hint ?? (error instanceof UsageError ? "try runner --help" : undefined);
  if (hint !== undefined) lines.push(...fit(`  ${printableLine(mask(hint))}`));
  const excerpts = diagnostics.map((diagnostic) => renderMasked(diagnostic, mask, columns));
  return [...lines, ...excerpts].join("\n") + "\n";
}

/** Errors of the operating system are for users to fix. */
function asRunnerError(error: unknown): unknown {
  if (error instanceof OutputError) {
    return new RunnerError(`cannot write to standard output: ${error.message}`);
  }
  const denial = explainDenial(error);
  return denial ? new RunnerError(denial.message, denial.hint) : error;
}

/** Prints warnings to standard error unless only errors are printed, and hints with all details. */
export function printWarnings(
  found: readonly Diagnostic[],
  level: LogLevel,
  { host, secrets }: Program,
): void {
  const shown = found.filter(({ severity }) =>
    severity === "hint" ? level === "debug" : level !== "error"
  );
  if (shown.length === 0) return;
  const mask = maskOf(host, secrets, shown);
  const columns = columnsOf(host);
  host.stderr.write(shown.map((one) => renderMasked(one, mask, columns) + "\n").join(""));
}

/** The errors of a workflow as annotations for GitHub Actions. */
export function annotateRefusal(
  name: string,
  refusal: LoadError,
  { host, secrets }: Program,
): string {
  const format = FINDING_FORMATS.find((one) => one.name === "github")!;
  const { diagnostics } = refusal;
  const file = { name, isJobFile: false, refusal, diagnostics, secrets: [], jobFiles: [] };
  const text = format.make().file(file, {
    mask: maskOf(host, secrets, diagnostics),
    columns: undefined,
    fromRoot: pathsFromRoot(host.files.workingDirectory(), host.env.get("GITHUB_WORKSPACE")),
  });
  return text.split(/(?<=\n)/).slice(0, MAX_ANNOTATIONS).join("");
}

/** Prints how the random values of a failed run can be repeated, if there are any. */
export function printSeed({ usedSeed }: Draws, { stderr }: Host): void {
  if (usedSeed === undefined) return;
  stderr.write(`random values: --seed=${shellWord(usedSeed)} repeats them\n`);
}

/** The width of the terminal; none where the text goes elsewhere, and is not wrapped. */
function columnsOf({ stderr }: Host): number | undefined {
  return stderr.isTerminal ? stderr.columns() : undefined;
}

/**
 * Takes out the secrets of the environment, those that came in otherwise, and those in
 * the lines of a file that diagnostics show.
 */
function maskOf(
  host: Host,
  secrets: Secrets,
  diagnostics: readonly Diagnostic[] = [],
): (text: string) => string {
  return makeSecretMask(makeMasker([environmentOf(host), ...secrets]), diagnostics);
}

/** The environment; nothing where it may not be read, and so cannot be said either. */
function environmentOf({ env }: Host): Readonly<Record<string, string>> {
  try {
    return env.all();
  } catch {
    return {};
  }
}
