import { filesIn } from "../../host/walk_directories.ts";
import { readEvents } from "../../report/files/read_events.ts";
import type { MergedPieces } from "../../piece/merge_pieces.ts";
import { isSuiteRunFile } from "../../piece/read_json_file.ts";
import type { Diagnostic } from "../../source/diagnostic.ts";
import { RunnerError, UsageError } from "../../source/errors.ts";
import { Masker } from "../../value/masker.ts";
import { checkChoice } from "../args/parse_flags.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { takeKey } from "../inputs/piece_key.ts";
import { readNamed } from "../inputs/read_named.ts";
import { printAll, readSettings, runReported } from "./run_reported.ts";

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
  const settings = await readSettings({ ...invocation, operands: names }, host);
  const files: NamedFile[] = [];
  // One after the other: all bytes at once would need the memory a second time.
  for (const name of names) files.push(await readNamed(name, host, "event file"));
  const merged = await mergeFiles(files, program);
  await printAll(
    merged.warnings.map((message): Diagnostic => ({ severity: "warning", code: "merge", message })),
    settings.level,
    program,
  );
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

interface NamedFile {
  readonly file: string;
  readonly text: string;
}

interface Merged extends MergedPieces {
  readonly isSuite: boolean;
}

/** The pieces of the run whose file is among these, or else the shards of a suite. */
async function mergeFiles(files: readonly NamedFile[], program: Program): Promise<Merged> {
  const runFiles = files.filter(({ text }) => /^\s*\{\s*"schema":/.test(text));
  const [runFile, another] = runFiles;
  if (another) {
    throw new UsageError(`'${runFile!.file}' and '${another.file}' are both run files`);
  }
  if (!runFile) {
    const { mergeEvents } = await import("../../suite/merge_events.ts");
    const parts = files.map(({ file, text }) => ({ file, events: readEvents(text, file) }));
    const { events, warnings } = mergeEvents(parts);
    const end = events.at(-1);
    const passed = end?.type === "suite_finished" && end.state === "passed";
    return { isSuite: true, events, passed, warnings };
  }
  const { mergePieces } = await import("../../piece/merge_pieces.ts");
  const { readRunFile, readRunHeader, withoutSealed } = await import("../../piece/run_file.ts");
  const pieces = files.filter((file) => file !== runFile).map(({ file, text }) => {
    return { file, events: () => readEvents(text, file) };
  });
  if (isSuiteRunFile(runFile.text)) {
    const { mergeSuitePieces } = await import("../../piece/merge_suite.ts");
    const { readSuiteRunFile } = await import("../../piece/suite_run_file.ts");
    return { isSuite: true, ...mergeSuitePieces(await readSuiteRunFile(runFile), pieces) };
  }
  const seal = await takeKey(program);
  // Without a key, sealed vars are nil: only an expectation about rounds may read them.
  const secrets = new Masker();
  const run = seal
    ? await readRunFile(runFile, { seal, secrets })
    : withoutSealed(readRunHeader(runFile));
  return { isSuite: false, ...mergePieces(run, pieces, secrets) };
}
