import { printableLine } from "../../base/text/printable.ts";
import { shellWord } from "../../base/text/shell_word.ts";
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

/** The words of a command for sh. */
export function shellLine(words: readonly string[]): string {
  return words.map(shellWord).join(" ");
}

/** The paths in a task: the run file, the results of other tasks, and those of its own. */
interface TaskPaths {
  readonly run: string;
  readonly inputs: string;
  readonly out: string;
}

/** The command of a task; `part` is the number of the process of a task that is split. */
export function runArguments(
  file: string,
  { choice, parts, share }: Task,
  { run, inputs, out }: TaskPaths,
  part = "1",
): readonly string[] {
  return [
    ...["runner", file, "--run", run],
    ...choice,
    ...parts > 1 ? [share, `${part}/${parts}`] : [],
    ...["--inputs", inputs, "--outputs", `${out}/outputs.json`],
    ...["--report", `ndjson=${out}/events.ndjson`],
  ];
}

/** The command that runs `finally` or `teardown`; its events go to a directory. */
export function cleanupArguments(
  file: string,
  option: string,
  paths: TaskPaths,
): readonly string[] {
  return [
    ...["runner", file, "--run", paths.run, option, "--inputs", paths.inputs],
    ...["--report", `ndjson=${paths.out}/${option.slice(2)}.ndjson`],
  ];
}

/** The directory of the run in a checkout, which tasks share by artifacts. */
export const DIRECTORY = ".runner";
export const RUN_FILE = `${DIRECTORY}/run.json`;

/** The lines that prepare the run in a checkout. */
export function prepareLines({ file }: Exported): readonly string[] {
  return [`mkdir -p ${DIRECTORY}`, shellLine(["runner", "prepare", file, "--out", RUN_FILE])];
}

/** The lines that run `finally` or `teardown` in a checkout, and make the reports. */
export function reportLines({ file, last }: Exported): readonly string[] {
  const paths = { run: RUN_FILE, inputs: DIRECTORY, out: DIRECTORY };
  return [
    ...last === undefined ? [] : [`${shellLine(cleanupArguments(file, last, paths))} || true`],
    shellLine([
      ...["runner", "report", "merge", RUN_FILE, DIRECTORY],
      ...["--report", "junit=report/junit.xml", "--report", "html=report/run.html"],
    ]),
  ];
}

/** The file of an engine: how it was made, what it needs, and its document. */
export function renderExported(
  { command }: Exported,
  notes: readonly string[],
  document: object,
): string {
  const comments = [
    `Made by: ${shellLine(command)}`,
    `Do not edit it: run the command again. ${notes[0]}`,
    ...notes.slice(1),
  ];
  return comments.map((line) => `# ${printableLine(line)}\n`).join("") + printYaml(document);
}
