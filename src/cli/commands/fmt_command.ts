import { countOf } from "../../base/text/count_of.ts";
import type { Host } from "../../host/host.ts";
import { isDirectory } from "../../host/walk_directories.ts";
import { LoadError } from "../../base/errors.ts";
import type { Source } from "../../base/source.ts";
import { expandPattern, yamlFilesIn } from "../../suite/find_workflows.ts";
import { isPattern } from "../../suite/suite.ts";
import { isDict, type Value } from "../../base/value/value.ts";
import { decodeText } from "../../base/text/decode_text.ts";
import { readTextFile } from "../../workflow/read_files.ts";
import { formatWorkflow } from "../../workflow/format_workflow.ts";
import { readYaml } from "../../base/yaml/read_yaml.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { explainError } from "../messages.ts";
import { writeTextFile } from "../write_text_file.ts";

/** Formats files in place, or says which of them are not formatted. */
export async function fmtCommand(
  { operands, switches }: Invocation,
  { host }: Program,
): Promise<ExitCode> {
  const onlyCheck = switches.has("check");
  let [files, changed, failed] = [0, 0, 0];
  const done = new Set<string>();
  for (const operand of operands) {
    for (const name of await namesOf(operand, host)) {
      if (done.has(name)) continue;
      done.add(name);
      files++;
      try {
        const file = await readInputFile(name, host);
        const text = await formatWorkflow(file, "file");
        if (name === "-" && !onlyCheck) host.stdout.write(text);
        if (text === file.text) continue;
        changed++;
        if (name === "-" && !onlyCheck) continue;
        if (!onlyCheck) await writeTextFile(name, text, host, { mayBeInput: true });
        host.stdout.write(`${onlyCheck ? "not formatted" : "formatted"}: ${name}\n`);
      } catch (error) {
        if (!(error instanceof LoadError)) throw error;
        failed++;
        host.stderr.write(explainError(error, host));
      }
    }
  }
  if (onlyCheck || !done.has("-")) host.stdout.write(summary(files, changed, failed, onlyCheck));
  return failed > 0 || onlyCheck && changed > 0 ? 1 : 0;
}

async function namesOf(operand: string, host: Host): Promise<readonly string[]> {
  const { files } = host;
  if (operand === "-" || await files.isFile(operand).catch(() => false)) return [operand];
  if (await isDirectory(operand, files)) {
    const names = await yamlFilesIn(operand, files);
    const isOurs = await Promise.all(names.map((name) => isWorkflow(name, host)));
    const found = names.filter((_, index) => isOurs[index]);
    if (found.length > 0) return found;
    throw new LoadError(
      `no workflow in '${operand}'`,
      [],
      "it has no workflow, job file or suite below it",
    );
  }
  if (isPattern(operand)) {
    const found = await expandPattern(operand, files);
    if (found.length > 0) return found;
    throw new LoadError(`file '${operand}' not found`, [], "no file fits this pattern");
  }
  return operand.split(",").map((name) => name.trim()).filter((name) => name !== "");
}

/**
 * Whether a file in a directory is a workflow, a job file or a suite: the YAML of other programs
 * stays as it is. A broken file is one if it begins a line like one.
 */
async function isWorkflow(name: string, host: Host): Promise<boolean> {
  const file = await readTextFile(name, host, "file").catch(() => undefined);
  if (file === undefined) return true;
  try {
    const { value } = await readYaml([file], "file");
    if (!isDict(value)) return false;
    const { jobs, steps, workflows } = value;
    return hasSteps(steps) || Array.isArray(workflows) ||
      Array.isArray(jobs) && jobs.some((job) => isDict(job) && hasSteps(job.steps));
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    return /^["']?(?:jobs|workflows|steps)["']?\s*:/m.test(file.text);
  }
}

function hasSteps(steps: Value | undefined): boolean {
  return Array.isArray(steps) && steps.some((step) => isDict(step) && step.uses !== undefined);
}

/** A file, or standard input for "-". */
export async function readInputFile(name: string, host: Host): Promise<Source> {
  if (name !== "-") return await readTextFile(name, host, "file");
  return { name: "<stdin>", text: decodeText(await new Response(Deno.stdin.readable).bytes()) };
}

/** `3 files: 1 formatted, 2 unchanged`. */
function summary(files: number, changed: number, failed: number, onlyCheck: boolean): string {
  const counts = [
    [changed, onlyCheck ? "not formatted" : "formatted"],
    [failed, "not read"],
    [files - changed - failed, onlyCheck ? "formatted" : "unchanged"],
  ] as const;
  const parts = counts.flatMap(([count, label]) => count === 0 ? [] : `${count} ${label}`);
  return `${countOf(files, "file")}: ${parts.join(", ")}\n`;
}
