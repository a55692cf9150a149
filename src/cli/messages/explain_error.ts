import type { Host } from "../../host/host.ts";
import { makeSecretMask } from "../../check/mask_secrets.ts";
import { makeMasker } from "../../secrets/add_secrets.ts";
import { explainDenial } from "../../host/explain_denial.ts";
import { OutputError } from "../../host/output.ts";
import type { Program } from "../command.ts";
import { type Diagnostic, renderMasked } from "../../base/diagnostic.ts";
import { LoadError, RunnerError, UsageError } from "../../base/errors.ts";
import { printable, printableLine } from "../../base/text/printable.ts";
import { wrapWords } from "../../base/text/wrap_text.ts";

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
  const places = diagnostics.map((diagnostic) => renderMasked(diagnostic, mask, columns));
  return [...lines, ...places].join("\n") + "\n";
}

/** Errors of the operating system are for users to fix. */
function asRunnerError(error: unknown): unknown {
  if (error instanceof OutputError) {
    return new RunnerError(`cannot write to standard output: ${error.message}`);
  }
  const denial = explainDenial(error);
  return denial ? new RunnerError(denial.words, denial.hint) : error;
}

/** The message for diagnostics that do not prevent a run. */
export function explainWarnings(
  warnings: readonly Diagnostic[],
  host: Host,
  secrets: Secrets = [],
): string {
  const mask = maskOf(host, secrets, warnings);
  const columns = columnsOf(host);
  return warnings.map((warning) => renderMasked(warning, mask, columns) + "\n").join("");
}

/** The width of the terminal; none where the text goes elsewhere, and is not wrapped. */
function columnsOf({ stderr }: Host): number | undefined {
  return stderr.isTerminal ? stderr.columns() : undefined;
}

/**
 * Takes out the secrets of the environment, those that came in otherwise, and those in
 * the lines of a file that diagnostics show.
 */
export function maskOf(
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
