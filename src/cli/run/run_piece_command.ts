import type { Diagnostic } from "../../base/diagnostic.ts";
import { RunnerError, UsageError } from "../../base/errors.ts";
import { tryParseJson } from "../../base/value/parse_json.ts";
import type { Host } from "../../host/host.ts";
import { machineName } from "../../host/machine_name.ts";
import type { PieceHeader } from "../../run/event.ts";
import { run } from "../../run/run.ts";
import { openPiece } from "../../spread/open_piece.ts";
import type { PieceOutputs } from "../../spread/outputs_file.ts";
import { isSuiteRunFile } from "../../spread/read_json_file.ts";
import { loadWorkflow } from "../../workflow/load_workflow.ts";
import type { ExitCode, Invocation, Program } from "../command.ts";
import { refuseInput, writeTextFile } from "../write_text_file.ts";
import { readNamed, readOutputsFiles, takeKey } from "./piece_files.ts";
import { readRun, refuseOptions, warnOf } from "./read_run.ts";
import { readReportSettings } from "./report_settings.ts";
import { runReported } from "./run_reported.ts";

/** Runs some jobs of a workflow as one of several processes of a run. */
export async function runPieceCommand(
  invocation: Invocation,
  program: Program,
): Promise<ExitCode> {
  const { host } = program;
  const { values, lists, operands: [path = ""], switches } = invocation;
  const runPath = values.get("run")!;
  const source = await readNamed(runPath, host, "run file");
  if (isSuiteRunFile(source.text)) {
    const { runSuitePieceCommand } = await import("./run_suite_piece_command.ts");
    return await runSuitePieceCommand(invocation, program, source);
  }
  refuseOptions("piece", invocation);
  refuseFinally(invocation);
  const startAt = readStart(values.get("start-at"), host.clock.now());
  const settings = await readReportSettings(invocation, host);
  const seal = await takeKey(program);
  const { options, planning: { draws }, makeSecrets } = await readRun(invocation, program);
  const warn = warnOf(invocation, program);
  const { workflow, warnings } = await loadWorkflow(path, host, options.permissions);
  await warn(warnings, path);
  const target = values.get("outputs");
  // Before --inputs are read: of these, a process that runs again replaces what it has left.
  if (target !== undefined) refuseInput(target, host);
  const piece = await openPiece(workflow, {
    runFile: source,
    inputs: await readOutputsFiles(lists.get("inputs") ?? [], host),
    choice: {
      only: lists.get("only") ?? [],
      isFinally: switches.has("finally"),
      rounds: values.get("rounds"),
    },
    draws,
    created: host.clock.now(),
    host: machineName(),
    startAt,
    seal,
    secrets: makeSecrets(),
  });
  await warn(piece.warnings.map(asWarning), path);
  if (target !== undefined) await refuseOutputsOfOthers(target, piece.options.piece.header, host);
  try {
    return await runReported(
      {
        run: (emit, reported) =>
          run(piece.plan, host, piece.recorder.around(emit), {
            ...options,
            ...reported,
            ...piece.options,
          }),
      },
      settings,
      program,
    );
  } finally {
    const text = target === undefined ? undefined : await piece.renderOutputs();
    if (text !== undefined) await writeTextFile(target!, text, host, { mayBeInput: true });
  }
}

/** Refuses a file among --inputs that other jobs, or other rounds of a job, have left. */
async function refuseOutputsOfOthers(target: string, { jobs, part }: PieceHeader, host: Host) {
  if (!host.files.isInput(target)) return;
  const { text } = await readNamed(target, host, "outputs file");
  const left = tryParseJson(text) as unknown as Pick<PieceOutputs, "jobs" | "part">;
  const isSamePiece = Object.keys(left.jobs).every((id) => jobs.includes(id));
  if (isSamePiece && left.part?.index === part?.index) return;
  const message = `cannot write '${target}': another process of this run has left it`;
  throw new RunnerError(message, "write to another file");
}

/** Refuses a choice of jobs that is missing, or made twice. */
function refuseFinally({ lists, switches }: Invocation): void {
  const isFinally = switches.has("finally");
  if (isFinally && lists.has("only")) {
    throw new UsageError(
      "options --finally and --only cannot be combined",
      "--finally runs the steps of the workflow's finally, and nothing else",
    );
  }
  if (isFinally || lists.has("only")) return;
  throw new UsageError("option --run requires --only", "name the jobs that this process runs");
}

/** Reads `2026-11-22T08:00:00Z`, or `@` and Unix seconds. Throws UsageError. */
function readStart(text: string | undefined, now: number): number | undefined {
  if (text === undefined) return undefined;
  const seconds = /^@(\d+(?:\.\d+)?)$/.exec(text)?.[1];
  const time = seconds === undefined
    ? /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : NaN
    : Number(seconds) * 1000;
  if (Number.isFinite(time)) return time;
  throw new UsageError(
    `option --start-at must be a time, not "${text}"`,
    `write --start-at ${new Date(now).toISOString()}, or @ and Unix seconds`,
  );
}

function asWarning(message: string): Diagnostic {
  return { severity: "warning", code: "piece", message };
}
