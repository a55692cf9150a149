import type { Exchange } from "../../../run/event.ts";
import { countOf } from "../../../base/text/count_of.ts";
import { failedByThemselves, failedParts, fullTitle } from "../../failed_parts.ts";
import { attemptsText, exchangeText, failureText } from "../details.ts";
import type { History } from "../history.ts";
import { loneRecord, type RunRecord, type SuiteRecord } from "../../record.ts";
import { renderCausesPanel } from "./panels.ts";
import {
  escape,
  indexEntries,
  json,
  renderAbout,
  renderFilters,
  renderHead,
  renderIcon,
  renderIndex,
  renderTitle,
} from "./head.ts";
import {
  briefFailure,
  flatSteps,
  pageDetails,
  pageDuration,
  pageJobs,
  pageStep,
} from "./page_data.ts";
import {
  renderCoveragePanels,
  renderHistoryChart,
  renderHistoryPanel,
  renderStartPanel,
} from "./panels.ts";
import { PAGE_SCRIPT } from "./page_script.ts";
import { STYLE } from "./style.ts";

/** A run of the page; the ids of its elements end in `id`, which is `-3` in a suite. */
interface PageRun {
  readonly id: string;
  readonly record: RunRecord;
}

/**
 * One page that shows a run, or all of a suite. It loads nothing, and text from outside is data in
 * it, never markup.
 */
export async function makeHtmlReport() {
  const [style, script] = await Promise.all([hash(STYLE), hash(PAGE_SCRIPT)]);
  const policy = `default-src 'none'; style-src ${style}; script-src ${script}; ` +
    "img-src data:; base-uri 'none'; form-action 'none'";
  return function* (
    records: readonly RunRecord[],
    suite?: SuiteRecord,
    history?: History,
  ): Iterable<string> {
    const lone = loneRecord(records);
    const runs = lone
      ? [{ id: "", record: lone }]
      : records.map((record, index) => ({ id: `-${index}`, record }));
    yield pageStart(renderTitle(records, suite), renderIcon(records, suite), policy);
    const panels = renderHistoryPanel(history) + renderCoveragePanels(records);
    const chart = renderHistoryChart(history);
    yield lone ? renderLoneHead(lone, chart, panels) : renderSuiteHead(runs, suite, chart, panels);
    yield MAIN;
    for (const { id, record } of runs) {
      yield `<script id="data${id}" type="application/json">`;
      yield* renderData(record);
      yield "</script>\n";
    }
    for (const { id, record } of runs) {
      yield `<script id="details-data${id}" type="application/json">\n`;
      yield* renderDetails(record);
      yield "</script>\n";
    }
    yield KEYS;
    // The script hides what follows it, which is for readers without scripts.
    yield `<script>${PAGE_SCRIPT}</script>\n<div id="static">
<p>This page shows more with scripts, which are switched off or not allowed here.</p>\n`;
    for (const { id, record } of runs) {
      yield lone ? "" : `<section id="run${id}">\n${renderAbout(record, "h2")}`;
      yield* renderFailures(record);
      yield lone ? "" : "</section>\n";
    }
    yield "</div>\n</body>\n</html>\n";
  };
}

/** The source of a policy that allows a style or a script with this text. */
export async function hash(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `'sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}'`;
}

/** The begin of a page that loads nothing; `style` is its look. */
export function pageStart(title: string, icon: string, policy: string, style = STYLE): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<link rel="icon" href="${icon}">
<style>${style}</style>
</head>
<body>
`;
}

function renderLoneHead(record: RunRecord, chart: string, panels: string): string {
  const { jobs } = record;
  const graph = graphPanel(countOf(jobs.length, "job"), jobs.some(({ needs }) => needs.length > 0));
  const start = renderStartPanel(record.origin, record.vars);
  const causes = renderCausesPanel([{ record, prefix: "#" }]);
  return `${renderHead(record, chart)}
<div class="panels">\n${graph}${causes}${start}${panels}</div>\n`;
}

/** The index of the runs, and the heads of all runs. The script shows one of them. */
function renderSuiteHead(
  runs: readonly PageRun[],
  suite: SuiteRecord | undefined,
  chart: string,
  panels: string,
): string {
  const records = runs.map(({ record }) => record);
  const linked = runs.map(({ id, record }) => ({ record, prefix: `#run${id}/` }));
  const heads = runs.map(({ id, record }, index) => {
    const causes = renderCausesPanel([linked[index]!]);
    return `<div id="head${id}" hidden>\n${renderHead(record)}
<div class="panels">\n${causes}${renderStartPanel(record.origin, record.vars)}</div>\n</div>\n`;
  }).join("");
  const all = renderCausesPanel(linked, true) + renderStartPanel(suite?.start.origin) + panels;
  return `${renderIndex(records, suite, chart, all)}${heads}
<div class="panels">\n${graphPanel("Jobs", true)}</div>
<script id="index-data" type="application/json">${json(indexEntries(records))}</script>\n`;
}

function graphPanel(summary: string, isOpen: boolean): string {
  return `<details id="graph-part" class="panel" hidden${isOpen ? " open" : ""}>
<summary>${summary}<span id="graph-note"></span></summary>
<div id="graph"></div>
</details>
`;
}

/** What the keys of the page do. */
const KEYS = `<dialog id="help" aria-labelledby="help-title">
<h2 id="help-title">Keys</h2>
<dl>
<dt><kbd>n</kbd> <kbd>p</kbd></dt><dd>next and previous failure</dd>
<dt><kbd>↓</kbd> <kbd>↑</kbd> <kbd>j</kbd> <kbd>k</kbd></dt><dd>next and previous row</dd>
<dt><kbd>→</kbd> <kbd>←</kbd></dt><dd>unfold and fold</dd>
<dt><kbd>Enter</kbd></dt><dd>to the details</dd>
<dt><kbd>Esc</kbd></dt><dd>back to the list, or empty the search</dd>
<dt><kbd>/</kbd></dt><dd>search</dd>
<dt><kbd>?</kbd></dt><dd>this help</dd>
</dl>
<h2>Bars</h2>
<p>A bar is the time of a job or step, and the line below it shows the phases of a request. A mark
across is a message that came. The outlined bars are the critical path: they decided how long the run
took.</p>
<button id="help-close" type="button">Close</button>
</dialog>
`;

const MAIN = `<main id="main" hidden>
<div class="waterfall">
${renderFilters("", ["all", "failed", "slow", "flaky", "skipped", "untested", "allowed"])}
<div id="axis" class="axis columns" aria-hidden="true"></div>
<div id="rows" role="tree" tabindex="0" aria-label="Jobs and steps"></div>
<p id="nothing" class="muted" hidden>Nothing to show.</p>
</div>
<section id="details" tabindex="0" aria-label="Details"><p class="muted">Choose a job or step.</p></section>
</main>
`;

function* renderData(record: RunRecord): Iterable<string> {
  const { jobs } = record;
  yield `{"duration":${pageDuration(record)},"jobs":${json(pageJobs(record))},"steps":[`;
  let separator = "";
  for (const [index, { steps }] of jobs.entries()) {
    for (const step of flatSteps(steps)) {
      yield `${separator}${json(pageStep(step, index, record))}`;
      separator = ",\n";
    }
  }
  yield "]}";
}

/** A line for each step, in the same order. */
function* renderDetails(record: RunRecord): Iterable<string> {
  for (const { steps } of record.jobs) {
    for (const { step } of flatSteps(steps)) yield `${json(pageDetails(step, record))}\n`;
  }
}

/** Nobody reads more of them. */
const MAX_FAILURES = 100;

/** The failures of a run, as markup that also needs no style. */
function* renderFailures({ jobs, end }: RunRecord): Iterable<string> {
  yield "<h2>Failures</h2>\n";
  // Of rounds, their examples, as on the page with a script.
  const parts = jobs.flatMap((job) => failedParts({ ...job, tally: undefined }));
  const failed = failedByThemselves(parts).filter(({ allowFailure }) => !allowFailure);
  const count = failed.length;
  for (const part of failed.slice(0, MAX_FAILURES)) {
    const { failures, step } = part;
    yield `<h3>${escape(fullTitle(part))}</h3>\n`;
    yield `<pre>${escape(failureText(failures.map(briefFailure)))}</pre>\n`;
    if (!step) continue;
    const attempts = attemptsText(step.result);
    if (attempts !== "") yield `<pre>${escape(attempts)}</pre>\n`;
    yield renderExchange(step.result.exchange);
  }
  if (count > MAX_FAILURES) yield `<p>… and ${count - MAX_FAILURES} more failures</p>\n`;
  if (count === 0) yield end?.state === "passed" ? "<p>Nothing failed.</p>\n" : "<p>No step.</p>\n";
}

function renderExchange(exchange: Exchange | undefined): string {
  if (!exchange) return "";
  const text = exchangeText({ ...exchange, command: undefined });
  if (text === "") return "";
  return `<details><summary>Request and response</summary>\n<pre>${
    escape(text)
  }</pre>\n</details>\n`;
}
