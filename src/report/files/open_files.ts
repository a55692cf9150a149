import type { Host, Output } from "../../host/host.ts";
import type { StagedFile } from "../../host/staged_file.ts";
import { RunnerError } from "../../base/errors.ts";
import type { History, OpenHistory } from "./history.ts";
import { cannotWrite, explained, renderKept } from "./kept_file.ts";
import type { Change } from "../record.ts";
import type { Exporter } from "../otlp/open_otlp.ts";
import type { Recorder } from "../recorder.ts";
import type { ExportFormat, FileFormat, RenderChange, RenderRecords } from "./registry.ts";

/** A report to be written, and where. */
export interface ReportTarget {
  readonly format: FileFormat | ExportFormat;
  /** `-` is standard output; without a path it is printed beside the text. */
  readonly path?: string;
  /** The address of a server that it is sent to; without one the environment has it. */
  readonly url?: string;
  /** Whether what the file holds already stays. */
  readonly appends?: true;
  /** Whether the run goes on without it where it cannot be opened. */
  readonly isOptional?: true;
}

/** Messages printed while reports are opened and written. */
interface FileReportHooks {
  /** An optional report cannot be written or sent, and why. */
  readonly onLeftOut: (error: RunnerError) => void;
  /** Has `stop` called where the run is interrupted, until what it returns is called. */
  readonly onStop: (stop: (reason: string) => void) => () => void;
}

/** Reports that are being written. */
export interface FileReports {
  /** Takes an event at once; those of concurrent runs come in any order, identified by `runId`. */
  take(change: Change): void;
  /**
   * Writes and completes all of them, and returns the history with this run, if there is one.
   * Rejects with RunnerError when one cannot be written.
   */
  finish(): Promise<History | undefined>;
  /** Leaves no file behind that would be written at the end. */
  discard(): void;
}

interface OpenTarget {
  /** The name used in messages. */
  readonly path: string;
  readonly file: StagedFile;
  /** For a format that grows with each event. */
  readonly renderChange?: RenderChange;
  /** For a format that is written at the end. */
  readonly renderRecords?: RenderRecords;
  /** The first error, which does not stop the run. */
  problem?: unknown;
}

/**
 * Opens every target, so that what cannot be written is known before anything runs. `recorder` has
 * the records for those that are written at the end. Throws RunnerError.
 */
export async function openFileReports(
  targets: readonly ReportTarget[],
  host: Host,
  recorder: Recorder,
  hooks: FileReportHooks,
  historyPath?: string,
): Promise<FileReports> {
  for (const { path = "-" } of targets) {
    if (path === "-" || !host.files.isInput(path)) continue;
    const message = `cannot write the report '${path}': the run reads this file`;
    throw new RunnerError(message, "name another file");
  }
  // Standard output may go to a program that reads a report and nothing else.
  const beside = targets.some(({ path }) => path === "-") ? host.stderr : host.stdout;
  const open: OpenTarget[] = [];
  const exporters: Exporter[] = [];
  let history: OpenHistory | undefined;
  try {
    if (historyPath !== undefined) {
      history = await openHistoryAt(historyPath, host, hooks);
      open.push(historyTarget(history));
    }
    for (const target of targets) {
      const { format } = target;
      if (format.kind === "export") {
        // The run goes on without it, whatever is wrong with it.
        await format.load().then((openExporter) => openExporter(target.url, host)).then(
          (exporter) => void exporters.push(exporter),
          (error) => hooks.onLeftOut(error),
        );
        continue;
      }
      const opening = openTarget(target, format, host, beside, hooks);
      const opened = await unlessStopped(opening, hooks.onStop);
      if (opened) open.push(opened);
    }
  } catch (error) {
    for (const { file } of open) file.discard();
    throw error;
  }
  return reportsOf(open, exporters, recorder, hooks, history);
}

/** The maximum number of ignored files that a warning names. */
const MAX_FOREIGN_NAMES = 3;

async function openHistoryAt(
  path: string,
  host: Host,
  { onLeftOut }: FileReportHooks,
): Promise<OpenHistory> {
  const { openHistory } = await import("./history.ts");
  const history = await openHistory(path, host).catch((error) => {
    throw cannotWrite(path, error, "history");
  });
  const { foreign } = history;
  if (foreign.length > 0) {
    const names = foreign.slice(0, MAX_FOREIGN_NAMES).join(", ");
    const ending = foreign.length > MAX_FOREIGN_NAMES ? `, … (${foreign.length} files)` : "";
    onLeftOut(new RunnerError(`ignored in the history '${path}': ${names}${ending}`));
  }
  return history;
}

/** The file of the current run, which is written like a report. */
function historyTarget({ path, file, with: runsWith }: OpenHistory): OpenTarget {
  return {
    path,
    file: explained(file, path, "history"),
    renderRecords: (records, suite) => [renderKept(runsWith(records, suite).at(-1)!)],
  };
}

/** Opening a pipe waits for a reader, or until the run is interrupted. */
async function unlessStopped(
  opening: Promise<OpenTarget | undefined>,
  onStop: FileReportHooks["onStop"],
): Promise<OpenTarget | undefined> {
  const { promise, reject } = Promise.withResolvers<never>();
  const forget = onStop((reason) => reject(new RunnerError(reason)));
  try {
    return await Promise.race([promise, opening]);
  } catch (error) {
    void opening.then((late) => late?.file.discard(), () => {});
    throw error;
  } finally {
    forget();
  }
}

async function openTarget(
  target: ReportTarget,
  format: FileFormat,
  host: Host,
  beside: Output,
  { onLeftOut }: FileReportHooks,
): Promise<OpenTarget | undefined> {
  const { path = "-", isOptional } = target;
  // A file is there only when nothing can keep it from being closed.
  const rendering = format.kind === "stream"
    ? { renderChange: await format.load(host) }
    : { renderRecords: await format.load() };
  try {
    return { ...rendering, path, file: explained(await openFile(target, host, beside), path) };
  } catch (error) {
    const problem = cannotWrite(path, error);
    if (!isOptional) throw problem;
    onLeftOut(problem);
    return undefined;
  }
}

async function openFile(
  { format, path, appends }: ReportTarget,
  { files, stdout }: Host,
  beside: Output,
): Promise<StagedFile> {
  if (path === undefined) return outputFile(beside);
  if (path === "-") return outputFile(stdout);
  if (appends) return await files.append(path);
  if (format.kind === "stream") return await files.grow(path);
  const file = await files.stage(path);
  const commit = () => {
    // A step may have read a file whose name was not known before the run.
    if (files.wasRead(path)) throw new Error("the run has read this file");
    file.commit();
  };
  return { ...file, commit };
}

function outputFile(output: Output): StagedFile {
  return { write: (text: string) => void output.write(text), commit() {}, discard() {} };
}

function reportsOf(
  open: readonly OpenTarget[],
  exporters: readonly Exporter[],
  recorder: Recorder,
  { onLeftOut }: FileReportHooks,
  history: OpenHistory | undefined,
): FileReports {
  return {
    take(change) {
      for (const target of open) {
        const { renderChange, file, problem } = target;
        if (!renderChange || problem !== undefined) continue;
        attempt(target, () => file.write(renderChange(change)));
      }
      for (const exporter of exporters) exporter.take(change);
    },
    async finish() {
      const records = recorder.records();
      const suite = recorder.suite();
      const runs = history?.with(records, suite);
      for (const target of open) {
        const { file, renderRecords } = target;
        attempt(target, () => {
          if (renderRecords) writePieces(file, renderRecords(records, suite, runs));
          if (target.problem === undefined) file.commit();
        });
        if (target.problem !== undefined) attempt(target, () => file.discard());
      }
      const left = await Promise.all(exporters.map((exporter) => exporter.finish()));
      for (const problem of left.flat()) onLeftOut(problem);
      throwProblems(open.flatMap(({ problem }) => problem ?? []));
      // A later run removes what is too old if it cannot be removed now.
      await history?.prune(runs!.at(-1)!.subject).catch(() => {});
      return runs;
    },
    discard() {
      for (const target of open) attempt(target, () => target.file.discard());
      for (const exporter of exporters) exporter.discard();
    },
  };
}

function throwProblems(problems: readonly unknown[]): void {
  const [first, ...others] = problems;
  if (first === undefined) return;
  if (others.length === 0 || !(first instanceof RunnerError)) throw first;
  throw new RunnerError(problems.map(messageOf).join("; "));
}

function attempt(target: OpenTarget, operation: () => void): void {
  try {
    operation();
  } catch (error) {
    target.problem ??= error;
  }
}

/** Pieces may be small, and each write to standard output costs. */
const WRITE_SIZE = 1 << 14;

function writePieces(file: StagedFile, pieces: Iterable<string>): void {
  let text = "";
  for (const piece of pieces) {
    text += piece;
    if (text.length < WRITE_SIZE) continue;
    file.write(text);
    text = "";
  }
  file.write(text);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
