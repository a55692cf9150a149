import { join } from "@std/path/join";
import { type CheckedFile, checkFile, refused } from "../../check/check_file.ts";
import { type CheckTally, FINDING_FORMATS, type WriteOptions } from "../../check/formats.ts";
import { makeSecretMask } from "../../check/mask_secrets.ts";
import type { Host } from "../../host/host.ts";
import { isDirectory } from "../../host/walk_directories.ts";
import { makeMasker } from "../../secrets/find_secrets.ts";
import type { Diagnostic } from "../../base/diagnostic.ts";
import { LoadError } from "../../base/errors.ts";
import { pathsFromRoot } from "../../base/text/github_command.ts";
import { spanInFile } from "../../base/source.ts";
import { type Limits, readLimits } from "../../workflow/limits.ts";
import { inLocale } from "../output_mode.ts";
import { checkSuite } from "../../suite/suite_of_file.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { expandPattern, findWorkflows } from "../../suite/find_workflows.ts";
import { isManyFiles, isPattern } from "../../suite/suite.ts";
import { explainError } from "../messages.ts";

/** Checks workflows without running them and prints all findings; 0 if there is no error. */
export async function checkCommand(
  { operands, switches, values }: Invocation,
  program: Program,
): Promise<ExitCode> {
  const host = values.get("format") === undefined ? inLocale(program.host) : program.host;
  const limits = { ...readLimits(host.env), permissions: program.permissions };
  const name = values.get("format") ?? "text";
  const format = FINDING_FORMATS.find((each) => each.name === name)!;
  const writer = format.make();
  const environment = makeMasker([host.env.all()]);
  const shared = {
    columns: host.stdout.isTerminal ? host.stdout.columns() : undefined,
    fromRoot: pathsFromRoot(host.files.workingDirectory(), host.env.get("GITHUB_WORKSPACE")),
  };
  let tally: CheckTally = { workflows: 0, jobFiles: 0, error: 0, warning: 0, hint: 0 };
  for await (const found of checkAll(operands, host, limits)) {
    const file = switches.has("strict") ? strictly(found) : found;
    tally = addTo(tally, file);
    const mask = makeSecretMask(environment, file.diagnostics, file.secrets);
    const options: WriteOptions = { ...shared, mask };
    if (file.refusal && !format.reportsRefusals) {
      const { message, hint } = file.refusal;
      host.stderr.write(explainError(new LoadError(message, [], hint), host));
    }
    const text = writer.file(file, options);
    if (text !== "" && !host.stdout.write(text)) break;
  }
  host.stdout.write(writer.end(tally));
  return tally.error > 0 ? 1 : 0;
}

/**
 * Checks each workflow once, however many operands lead to it. What is found in a file that several
 * of them read is reported once too, and a job file that one of them embeds is checked with that.
 */
async function* checkAll(
  operands: readonly string[],
  host: Host,
  limits: Limits,
): AsyncIterable<CheckedFile> {
  const isNew = firstTime();
  const withoutKnown = (file: CheckedFile) => {
    return { ...file, diagnostics: file.diagnostics.filter(isNew) };
  };
  const embedded = new Set<string>();
  const jobFiles: CheckedFile[] = [];
  const done = new Set<string>();
  for (const operand of operands) {
    const suite = await checkSuite(operand, host);
    if (suite) {
      const { diagnostics } = suite;
      yield { name: operand, isJobFile: false, diagnostics, secrets: [], jobFiles: [] };
    }
    const names = suite?.files ?? await namesOf(operand, host);
    if (!suite && names.length === 0) yield nothingFits(operand);
    for (const name of names) {
      const path = join(name);
      if (done.has(path)) continue;
      done.add(path);
      const found = await checkFile(name, host, limits, suite?.context);
      const isUsed = ({ code }: Diagnostic) =>
        code !== "unused-output" || !suite?.setup.includes(name);
      const checked = { ...found, diagnostics: found.diagnostics.filter(isUsed) };
      for (const jobFile of checked.jobFiles) if (jobFile !== name) embedded.add(join(jobFile));
      if (checked.isJobFile) jobFiles.push(checked);
      else yield withoutKnown(checked);
    }
  }
  for (const file of jobFiles) if (!embedded.has(join(file.name))) yield withoutKnown(file);
}

async function namesOf(operand: string, host: Host): Promise<readonly string[]> {
  const { files } = host;
  if (!await isManyFiles(operand, files)) return [operand];
  if (!await isDirectory(operand, files)) return await expandPattern(operand, files);
  // A directory stands for the workflows in it, as for a run.
  const found = await findWorkflows([operand], host).catch((error) => {
    if (error instanceof LoadError) return { workflows: [] };
    throw error;
  });
  return found.workflows.map(({ path }) => path);
}

function nothingFits(pattern: string): CheckedFile {
  if (!isPattern(pattern)) return refused(pattern, new LoadError(`no workflow in '${pattern}'`));
  const message = `workflow file '${pattern}' not found`;
  return refused(pattern, new LoadError(message, [], "no file fits this pattern"));
}

/** Whether a diagnostic has not been seen before, at its place. */
function firstTime(): (diagnostic: Diagnostic) => boolean {
  const seen = new Set<string>();
  return ({ code, message, span }) => {
    if (!span) return true;
    const { source, start } = spanInFile(span);
    const key = JSON.stringify([source.name, start, code, message]);
    const isNew = !seen.has(key);
    seen.add(key);
    return isNew;
  };
}

function strictly(file: CheckedFile): CheckedFile {
  const diagnostics = file.diagnostics.map((each) =>
    each.severity === "warning" ? { ...each, severity: "error" as const } : each
  );
  return { ...file, diagnostics };
}

function addTo(tally: CheckTally, file: CheckedFile): CheckTally {
  const { refusal, diagnostics, isJobFile } = file;
  const count = { ...tally };
  count[isJobFile ? "jobFiles" : "workflows"]++;
  for (const { severity } of diagnostics) count[severity]++;
  if (refusal && diagnostics.length === 0) count.error++;
  return count;
}
