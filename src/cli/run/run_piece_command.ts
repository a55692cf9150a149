import { RunnerError, UsageError } from "../../base/errors.ts";
import { tryParseJson } from "../../base/value/parse_json.ts";
import type { Host } from "../../host/host.ts";
import type { PieceHeader } from "../../run/event.ts";
import type { PieceChoice } from "../../spread/choose_piece.ts";
import { openPiece, openSuitePiece } from "../../spread/open_piece.ts";
import type { PieceOutputs } from "../../spread/outputs_file.ts";
import { readRunFile } from "../../spread/run_file.ts";
import { loadWorkflow } from "../../workflow/load_workflow.ts";
import type { ExitCode, Invocation, Program, RunKind } from "../command.ts";
import { refuseInput, writeTextFile } from "../write_text_file.ts";
import { readNamed, takeKey } from "./piece_files.ts";
import { readRun, refuseOptions, warnOf } from "./read_run.ts";
import { readReportSettings } from "./report_settings.ts";
import { runReported } from "./run_reported.ts";
import { filesIn } from "../../host/walk_directories.ts";
import type { NamedText } from "../../spread/read_json_file.ts";

/** Runs some jobs of a workflow, or workflows of a suite, as one of several processes of a run. */
export async function runPieceCommand(
  invocation: Invocation,
  program: Program,
): Promise<ExitCode> {
  const { host } = program;
  const { values, lists, operands } = invocation;
  const startAt = readStart(values.get("start-at"), host.clock.now());
  const settings = await readReportSettings(invocation, host);
  const source = await readNamed(values.get("run")!, host, "run file");
  const seal = await takeKey(program);
  const { options, planning: { draws }, makeSecrets } = await readRun(invocation, program);
  const { permissions } = options;
  const secrets = makeSecrets();
  const runFile = await readRunFile(source, { seal, secrets });
  const kind = runFile.suite ? "suite" : "workflow";
  refuseOptions(kind, invocation);
  const choice = readChoice(kind, invocation);
  const target = values.get("outputs");
  const [path = ""] = operands;
  const loaded = runFile.suite ? undefined : await loadWorkflow(path, host, permissions);
  // Other processes read them.
  host.files.planReading(operands);
  host.files.planReading(runFile.workflows.flatMap(({ workflow }) => workflow.file.split(",")));
  // Before --inputs are read: of these, a process that runs again replaces what it has left.
  if (target !== undefined) refuseInput(target, host);
  const inputs = await readOutputsFiles(lists.get("inputs") ?? [], host);
  const opening = { host, permissions, runFile, inputs, choice, draws, startAt, seal, secrets };
  const piece = loaded
    ? await openPiece(loaded.workflow, opening)
    : await openSuitePiece(operands, opening);
  await warnOf(invocation, program)([...loaded?.warnings ?? [], ...piece.warnings], path);
  if (target !== undefined) await refuseOutputsOfOthers(target, piece.header, host);
  try {
    return await runReported(
      {
        isSuite: kind === "suite",
        run: (emit, reported) => piece.run(emit, { ...options, ...reported }),
      },
      settings,
      program,
    );
  } finally {
    const text = target === undefined ? undefined : await piece.renderOutputs();
    if (text !== undefined) await writeTextFile(target!, text, host, { mayBeInput: true });
  }
}

/** The one part of the run that the options choose. Throws UsageError. */
function readChoice(
  kind: RunKind,
  { values, lists, switches, settings: { shard } }: Invocation,
): PieceChoice {
  const only = lists.get("only");
  const stage = (["finally", "setup", "teardown"] as const).find((name) => switches.has(name));
  const [first, second] = ["finally", "setup", "teardown", "only", "shard"]
    .filter((name) => switches.has(name) || lists.has(name) || values.has(name));
  if (first === undefined) {
    const options = kind === "suite"
      ? "--setup, --only, --shard or --teardown for a suite"
      : "--only";
    throw new UsageError(
      `option --run requires ${options}`,
      `--only names the ${kind === "suite" ? "workflows" : "jobs"} that this process runs`,
    );
  }
  if (second !== undefined) {
    throw new UsageError(`options --${first} and --${second} cannot be combined`);
  }
  return { only: only ?? [], stage, rounds: values.get("rounds"), shard };
}

/** Refuses a file among --inputs that another part of the run has left. */
async function refuseOutputsOfOthers(target: string, { jobs, part }: PieceHeader, host: Host) {
  if (!host.files.isInput(target)) return;
  const { text } = await readNamed(target, host, "outputs file");
  const left = tryParseJson(text) as unknown as Pick<PieceOutputs, "jobs" | "part">;
  const isSamePiece = Object.keys(left.jobs).every((id) => jobs.includes(id));
  if (isSamePiece && left.part?.index === part?.index) return;
  const message = `cannot write '${target}': another process of this run has left it`;
  throw new RunnerError(message, "write to another file");
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

/** The outputs files that `--inputs` names: files, or all that are below directories. */
async function readOutputsFiles(
  paths: readonly string[],
  host: Host,
): Promise<readonly NamedText[]> {
  const found = await filesIn(paths, host.files, (name) => name === "outputs.json");
  return await Promise.all(found.map((path) => readNamed(path, host, "outputs file")));
}
