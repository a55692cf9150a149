import { countOf } from "../text/lines.ts";
import { PARTS } from "./html/browser/parts.ts";
import { startPage } from "./html/browser/start.ts";
import { renderCoveragePart } from "./html/coverage_part.ts";
import {
  flatSteps,
  pageAttempts,
  pageDetails,
  pageDuration,
  pageJobs,
  pageStep,
} from "./html/make_page_data.ts";
import { renderHistoryChart, renderHistoryPart } from "./html/history_part.ts";
import { renderAbout, renderHead, renderTitle } from "./html/page_head.ts";
import { renderStatic, staticBounds } from "./html/static_part.ts";
import { indexEntries, renderIndex, renderSuiteTitle } from "./html/suite_index.ts";
import { STYLE } from "./html/page_style.ts";
import type { History } from "./history/history.ts";
import { loneRecord, type RunRecord, type SuiteRecord } from "./run_record.ts";

/** A bundler gives functions other names, but not the fields of an object. */
const SCRIPT = `(${startPage})({${
  Object.entries(PARTS).map(([name, part]) => `${name}:${part}`).join(",\n")
}});`;

/**
 * One page that shows a run and needs nothing else: it loads nothing, and what came from outside
 * is data in it, never markup.
 */
export async function makeHtmlReport(): Promise<
  (
    records: readonly RunRecord[],
    suite?: SuiteRecord,
    history?: History,
  ) => Iterable<string>
> {
  const [style, script] = await Promise.all([hash(STYLE), hash(SCRIPT)]);
  const policy = `default-src 'none'; style-src ${style}; script-src ${script}; ` +
    "img-src data:; base-uri 'none'; form-action 'none'";
  return (records, suite, history) => {
    const lone = loneRecord(records);
    return lone
      ? renderPage(lone, history, policy)
      : renderSuitePage(records, suite, history, policy);
  };
}

async function hash(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `'sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}'`;
}

/**
 * The script precedes the details, which are most of a long page, so rows show at once. What is
 * for readers without scripts comes last, where the script has hidden it already.
 */
function* renderPage(
  record: RunRecord,
  history: History | undefined,
  policy: string,
): Iterable<string> {
  const { jobs } = record;
  yield pageStart(renderTitle(record), policy);
  yield `${renderHead(record, renderHistoryChart(history))}
<div class="panels">
${graphPart(countOf(jobs.length, "job"), jobs.some(({ needs }) => needs.length > 0))}${
    renderHistoryPart(history)
  }${renderCoveragePart([record])}</div>
${MAIN}
<script id="data" type="application/json">`;
  yield* dataOf(record);
  yield `</script>\n<script>${SCRIPT}</script>\n<script id="details-data" type="application/json">\n`;
  yield* detailsOf(record);
  yield `</script>\n<div id="static">\n${NO_SCRIPTS}`;
  yield* renderStatic(record, staticBounds());
  yield "</div>\n</body>\n</html>\n";
}

const NO_SCRIPTS =
  "<p>This page shows more with scripts, which are switched off or not allowed here.</p>\n";

/** An index of the runs, and the data of each, of which the one that is chosen is read. */
function* renderSuitePage(
  records: readonly RunRecord[],
  suite: SuiteRecord | undefined,
  history: History | undefined,
  policy: string,
): Iterable<string> {
  yield pageStart(renderSuiteTitle(records, suite), policy);
  yield renderIndex(
    records,
    suite,
    renderHistoryChart(history),
    renderHistoryPart(history) + renderCoveragePart(records),
  );
  for (const [index, record] of records.entries()) {
    yield `<div id="head-${index}" hidden>\n${renderHead(record)}\n</div>\n`;
  }
  yield `<div class="panels">\n${graphPart("Jobs", true)}</div>\n${MAIN}
<script id="index-data" type="application/json">${json(indexEntries(records))}</script>\n`;
  for (const [index, record] of records.entries()) {
    yield `<script id="data-${index}" type="application/json">`;
    yield* dataOf(record);
    yield "</script>\n";
  }
  yield `<script>${SCRIPT}</script>\n`;
  for (const [index, record] of records.entries()) {
    yield `<script id="details-data-${index}" type="application/json">\n`;
    yield* detailsOf(record);
    yield "</script>\n";
  }
  yield `<div id="static">\n${NO_SCRIPTS}`;
  const bounds = staticBounds();
  for (const [index, record] of records.entries()) {
    yield `<section id="run-${index}">\n${renderAbout(record, "h2")}`;
    yield* renderStatic(record, bounds);
    yield "</section>\n";
  }
  yield "</div>\n</body>\n</html>\n";
}

function pageStart(title: string, policy: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${title}</title>
<style>${STYLE}</style>
</head>
<body>
`;
}

function graphPart(summary: string, isOpen: boolean): string {
  return `<details id="graph-part" class="panel" hidden${isOpen ? " open" : ""}>
<summary>${summary}</summary>
<div id="graph"></div>
</details>
`;
}

const MAIN = `<main id="main" hidden>
<div class="waterfall">
<div class="filters">
<label for="show">Show</label>
<select id="show">
<option value="all">all</option>
<option value="failed">failed</option>
<option value="slow">slowest tenth</option>
<option value="flaky">flaky</option>
<option value="skipped">skipped</option>
<option value="untested">not tested</option>
<option value="tolerated">tolerated</option>
</select>
<label for="search">Find</label>
<input id="search" type="search" placeholder="press / to search" autocomplete="off">
<span id="count" class="muted" role="status"></span>
</div>
<div id="axis" class="axis columns" aria-hidden="true"></div>
<div id="rows" role="tree" tabindex="0" aria-label="Jobs and steps"></div>
<p id="nothing" class="muted" hidden>Nothing to show.</p>
</div>
<section id="details" tabindex="0" aria-label="Details"><p class="muted">Choose a job or step.</p></section>
</main>`;

function* dataOf(record: RunRecord): Iterable<string> {
  const { jobs, started } = record;
  yield `{"duration":${pageDuration(record)},"jobs":${json(pageJobs(record))},"steps":[`;
  let isFirst = true;
  for (const [index, { steps }] of jobs.entries()) {
    for (const step of flatSteps(steps)) {
      yield `${isFirst ? "" : ",\n"}${json(pageStep(step, index, started))}`;
      isFirst = false;
    }
  }
  yield "]}";
}

/** A line for each step, in the same order. */
function* detailsOf({ jobs }: RunRecord): Iterable<string> {
  for (const { steps } of jobs) {
    for (const { step: { result } } of flatSteps(steps)) {
      const attempts = pageAttempts(result.attempts);
      yield `${json({ ...pageDetails(result), attempts, exchange: result.exchange })}\n`;
    }
  }
}

/** Data inside of a script element, which the first `</script` would end. */
function withoutMarkup(json: string): string {
  return json.replaceAll("<", "\\u003c");
}

function json(value: unknown): string {
  return withoutMarkup(JSON.stringify(value));
}
