import type { FileFormat, FileFormatName } from "../report/files/registry.ts";
import type { RunEvent } from "../run/event.ts";

/**
 * The reports of the command line. Of those for people, `text` is what it prints, `quiet` what it
 * prints with `--quiet`, `verbose` what `--verbose` adds and `warnings` what it prints beside any
 * report. Those for machines have the names that `--report` takes; `github-summary` is what
 * `github` adds to the page of a build.
 */
export type ReportName =
  | "text"
  | "quiet"
  | "verbose"
  | "warnings"
  | FileFormatName
  | "github-summary";

/** Turns the events of a run into text: each call gives what the event adds, often nothing. */
export type Report = (event: RunEvent) => string;

/** The options for the look of a report for people. */
export interface ReportOptions {
  /** Whether to use colours; the variable `NO_COLOR` still turns them off. */
  readonly colour?: boolean;
  /** Whether `text` and `quiet` say what took the time, and `text` the times of each step. */
  readonly timing?: boolean;
  /** The width of the terminal in columns; lines have any length without it. */
  readonly columns?: number;
}

/**
 * Makes a report, to be given every event of one run. `text`, `quiet`, `verbose`, `warnings`,
 * `ndjson` and `github` grow with each event; the others are documents, whose whole text comes with
 * the last event. Those for machines contain most if the run is `detailed`, `verbose` when it is
 * run with `debug`.
 *
 * @example Write a JUnit report
 * ```ts
 * import { loadWorkflow, makePlan, makeReport, run } from "@runner/runner";
 *
 * const plan = await makePlan(await loadWorkflow("examples/hello.yml"));
 * const report = await makeReport("junit");
 * let xml = "";
 * for await (const event of run(plan, { detailed: true })) xml += report(event);
 * console.log(xml.startsWith("<?xml"));
 * ```
 */
export async function makeReport(name: ReportName, options: ReportOptions = {}): Promise<Report> {
  switch (name) {
    case "text":
    case "quiet":
    case "verbose":
    case "warnings": {
      const { colour = false, timing = false, columns } = options;
      const { makeReporter } = await import("../report/open_report.ts");
      const { loadStyle, printableEvent } = await import("../report/reporter.ts");
      const { Recorder } = await import("../report/recorder.ts");
      const reporter = await makeReporter(name, {
        timing,
        style: await loadStyle(colour),
        columns: columns === undefined ? undefined : () => columns,
      });
      const recorder = new Recorder({ keeps: "outcomes" });
      return (event) => reporter.report(recorder.take(printableEvent(event)));
    }
    default:
      return await makeFileReport(name);
  }
}

async function makeFileReport(name: FileFormatName | "github-summary"): Promise<Report> {
  const { FILE_FORMATS, GITHUB_SUMMARY } = await import("../report/files/registry.ts");
  const format: FileFormat | undefined = name === "github-summary"
    ? GITHUB_SUMMARY
    : FILE_FORMATS.find((each) => each.name === name);
  if (!format) throw new TypeError(`there is no report "${name}"`);
  const { Recorder } = await import("../report/recorder.ts");
  const { VERSION } = await import("../cli/version.ts");
  const tool = { name: "runner", version: VERSION };
  if (format.kind === "stream") {
    const render = await format.load((await import("../host/deno_host.ts")).denoHost());
    const recorder = new Recorder({ keeps: "outcomes", tool });
    return (event) => render(recorder.take(event));
  }
  const render = await format.load();
  const recorder = new Recorder({ keeps: "everything", tool });
  return (event) => {
    recorder.take(event);
    const suite = recorder.suite();
    const isLast = event.type === (suite ? "suite_finished" : "run_finished");
    return isLast ? [...render(recorder.records(), suite)].join("") : "";
  };
}
