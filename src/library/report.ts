import { VERSION } from "../cli/version.ts";
import { denoHost } from "../host/deno_host.ts";
import { Recorder } from "../report/files/recorder.ts";
import { FILE_FORMATS } from "../report/files/registry.ts";
import { loadStyle } from "../report/load_style.ts";
import { textReport } from "../report/text_report.ts";
import type { RunEvent } from "../run/event.ts";

/** The forms of a report. */
export type ReportName =
  | "text"
  | "junit"
  | "tap"
  | "json"
  | "ndjson"
  | "ctrf"
  | "markdown"
  | "html"
  | "github";

/** Turns the events of a run into text: each call gives what the event adds, often nothing. */
export type Report = (event: RunEvent) => string;

/** How a report looks. */
export interface ReportOptions {
  /** Whether `text` has colours. */
  readonly colour?: boolean;
  /** Whether `text` shows the times of each step. */
  readonly timing?: boolean;
}

/**
 * Makes a report. `text`, `ndjson` and `github` grow with each event; the others are documents,
 * whose whole text comes with the last event. They tell most when the run is `detailed`.
 *
 * @example Write a JUnit report
 * ```ts
 * import { loadWorkflow, makePlan, makeReport, run } from "@runner/runner";
 *
 * const workflow = await loadWorkflow("examples/hello.yml");
 * const report = await makeReport("junit");
 * let xml = "";
 * for await (const event of run(await makePlan(workflow), { detailed: true })) {
 *   xml += report(event);
 * }
 * console.log(xml.startsWith("<?xml"));
 * ```
 */
export async function makeReport(name: ReportName, options: ReportOptions = {}): Promise<Report> {
  const { colour = false, timing = false } = options;
  if (name === "text") {
    const text = textReport({ timing, style: await loadStyle(colour) });
    return (event) => text.report(event);
  }
  const format = FILE_FORMATS.find((one) => one.name === name);
  if (!format) throw new TypeError(`there is no report "${name}"`);
  if (format.kind === "stream") return await format.load(denoHost());
  const render = await format.load();
  const recorder = new Recorder({ name: "runner", version: VERSION });
  return (event) => {
    recorder.take(event);
    return event.type === "run_finished" ? [...render(recorder.record())].join("") : "";
  };
}
