import { RunnerError, UsageError } from "../../base/errors.ts";
import { filesIn } from "../../host/walk_directories.ts";
import { readEvents } from "../../report/files/ndjson.ts";
import { Masker } from "../../secrets/masker.ts";
import { type Merged, mergePieces } from "../../spread/merge_pieces.ts";
import type { NamedText } from "../../spread/read_json_file.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { checkChoice } from "../command_line.ts";
import { printWarnings } from "../messages.ts";
import { readNamed, takeKey } from "./piece_files.ts";
import { readReportSettings } from "./report_settings.ts";
import { runReported } from "./run_reported.ts";

/** Makes one report and one exit code of the events that several processes have written. */
export async function reportCommand(invocation: Invocation, program: Program): Promise<ExitCode> {
  const { host } = program;
  const [action = "", ...paths] = invocation.operands;
  checkChoice("runner report", action, ["merge"]);
  if (paths.length === 0) {
    throw new UsageError("<path> is missing", "name event files, or directories that have them");
  }
  const names = await filesIn(paths, host.files, (name) => name.endsWith(".ndjson"));
  if (names.length === 0) {
    throw new RunnerError(
      `no event files in '${paths.join("', '")}'`,
      "the files that --report ndjson=FILE writes end in .ndjson",
    );
  }
  const settings = await readReportSettings(invocation, host);
  const files: NamedText[] = [];
  // One after the other: all bytes at once would need the memory a second time.
  for (const name of names) files.push(await readNamed(name, host, "event file"));
  const merged = await mergeNamed(files, program);
  const warnings = merged.warnings.map((message) =>
    ({ severity: "warning", code: "merge", message }) as const
  );
  printWarnings(warnings, settings.level, program);
  return await runReported(
    {
      isSuite: merged.isSuite,
      run(emit) {
        for (const event of merged.events) emit(event);
        return Promise.resolve(merged.passed);
      },
    },
    settings,
    program,
  );
}

/** The pieces of the run whose file is among these, or else the shards of a suite. */
async function mergeNamed(files: readonly NamedText[], program: Program): Promise<Merged> {
  const [runFile, second] = files.filter(({ text }) => /^\s*\{\s*"schema":/.test(text));
  if (second) {
    throw new UsageError(`'${runFile!.file}' and '${second.file}' are both run files`);
  }
  const seal = runFile && await takeKey(program);
  const pieces = files.filter((file) => file !== runFile).map(({ file, text }) => {
    return { file, events: () => readEvents(text, file) };
  });
  return await mergePieces(pieces, runFile, seal && { seal, secrets: new Masker() });
}
