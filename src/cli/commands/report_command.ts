import { readEvents } from "../../report/files/read_events.ts";
import type { Diagnostic } from "../../source/diagnostic.ts";
import { RunnerError, UsageError } from "../../source/errors.ts";
import type { Files } from "../../host/host.ts";
import { mergeEvents } from "../../suite/merge_events.ts";
import { readTextFile } from "../../workflow/read_files.ts";
import { checkChoice } from "../args/parse_flags.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { printAll, readSettings, runReported } from "./run_reported.ts";

/** Makes one report and one exit code of the events that several runs have written. */
export async function reportCommand(invocation: Invocation, program: Program): Promise<ExitCode> {
  const { host } = program;
  const [action = "", ...paths] = invocation.operands;
  checkChoice("runner report", action, ["merge"]);
  if (paths.length === 0) {
    throw new UsageError("<path> is missing", "name event files, or directories that have them");
  }
  const files = await eventFiles(paths, host.files);
  const settings = await readSettings({ ...invocation, operands: files }, host);
  const parts = await Promise.all(files.map(async (file) => {
    const { text } = await readTextFile(file, host, "event file");
    return { file, events: readEvents(text, file) };
  }));
  const { events, warnings } = mergeEvents(parts);
  const found = warnings.map((message): Diagnostic => {
    return { severity: "warning", code: "merge", message };
  });
  await printAll(found, settings.level, program);
  const end = events.at(-1);
  const passed = end?.type === "suite_finished" && end.state === "passed";
  return await runReported(
    {
      isSuite: true,
      run(emit) {
        for (const event of events) emit(event);
        return Promise.resolve(passed);
      },
    },
    settings,
    program,
  );
}

/** The files themselves, and those with events at any depth of directories. Throws RunnerError. */
async function eventFiles(paths: readonly string[], files: Files): Promise<readonly string[]> {
  const found = new Set<string>();
  for (const path of paths) {
    if (await files.list(path).catch(() => undefined) === undefined) {
      found.add(path);
      continue;
    }
    const before = found.size;
    await addEventFiles(path.replace(/\/+$/, ""), files, found);
    if (found.size === before) {
      throw new RunnerError(
        `no event files in '${path}'`,
        "the files that --report ndjson=FILE writes end in .ndjson",
      );
    }
  }
  return [...found];
}

async function addEventFiles(folder: string, files: Files, found: Set<string>): Promise<void> {
  for (const { name, kind } of await files.entries(folder)) {
    const path = `${folder}/${name}`;
    if (kind === "folder") await addEventFiles(path, files, found);
    else if (kind === "file" && name.endsWith(".ndjson")) found.add(path);
  }
}
