import { printableLine } from "../../base/text/printable.ts";
import type { Source } from "../../base/source.ts";
import { printYaml } from "../../base/yaml/print_yaml.ts";
import type { Task } from "./tasks.ts";

/** The data from which an engine's file is made. */
export interface Exported {
  /** The command that makes it, without what only says where it goes. */
  readonly command: readonly string[];
  readonly name: string;
  /** The workflow file or the suite, as it was named. */
  readonly file: string;
  /** The same, relative to the directory that `files` are relative to. */
  readonly mounted: string;
  /** All files of the workflow or suite. */
  readonly files: readonly Source[];
  readonly tasks: readonly Task[];
  /** The option that runs what comes last, before the report. */
  readonly last?: "--finally" | "--teardown";
  /** Environment variables that tasks take from the engine's store of secrets. */
  readonly secrets: readonly string[];
  readonly image?: string;
  /** The version of the program. */
  readonly version: string;
}

/** Writes the file of an engine. Throws RunnerError for what the engine cannot do. */
export interface Exporter {
  readonly exportJobs: (exported: Exported) => string;
}

/** The repository of the program. */
export const REPOSITORY = "OWNER/runner";

/** The words of a command for sh. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(" ");
}

/** A word for sh, in quotes where it needs them. */
export function shellWord(word: string): string {
  return /^[\w./=:@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;
}

/** The command of a task. */
export function runWords(
  file: string,
  { choice, parts, share, hasOutputs }: Task,
  paths: { readonly run: string; readonly inputs: string; readonly out: string; part?: string },
): readonly string[] {
  return [
    ...["runner", file, "--run", paths.run],
    ...choice,
    ...parts > 1 ? [share, `${paths.part}/${parts}`] : [],
    ...["--inputs", paths.inputs],
    ...hasOutputs ? ["--outputs", `${paths.out}/outputs.json`] : [],
    ...["--report", `ndjson=${paths.out}/events.ndjson`],
  ];
}

/** The command that runs what comes last; its events go to a directory. */
export function lastWords(
  file: string,
  option: string,
  paths: { readonly run: string; readonly inputs: string; readonly out: string },
): readonly string[] {
  return [
    ...["runner", file, "--run", paths.run, option, "--inputs", paths.inputs],
    ...["--report", `ndjson=${paths.out}/${option.slice(2)}.ndjson`],
  ];
}

/** Comments and a document, as YAML without anchors. */
export function renderYaml(comments: readonly string[], document: object): string {
  const head = comments.map((line) => `# ${printableLine(line)}\n`).join("");
  return head + printYaml(document);
}

/** The first comment of every file. */
export function madeBy({ command }: Pick<Exported, "command">): string {
  return `Made by: ${shellLine(command)}`;
}
