import { shellWord } from "../../../base/text/shell_word.ts";
import type { ApiCoverage, OperationCoverage } from "../../../base/value/api_coverage.ts";
import { isDict, type Value } from "../../../base/value/value.ts";
import type { RunOrigin, StepRun } from "../../../run/event.ts";
import { formatElapsed } from "../../../base/value/duration.ts";
import {
  coverageShares,
  mergeCoverage,
  type Share,
  shareText,
  verdictOfRuns,
} from "../../coverage.ts";
import { countOf } from "../../../base/text/count_of.ts";
import { cutLine } from "../../../base/text/display_width.ts";
import { renderJson } from "../../../base/value/render_json.ts";
import { compareLoads, type History, type TestState, unstableTests } from "../history.ts";
import type { RunRecord } from "../../record.ts";
import { escape, FILLS, json } from "./head.ts";
import { keyOf, type PageHistoryRun } from "./page_data.ts";
import { type CauseNames, causeNames, groupByCause } from "../../causes.ts";
import { failedByThemselves, type FailedPart, failedParts, fullTitle } from "../../failed_parts.ts";
import { summarizeFailure } from "../../../run/failure/summarize_failure.ts";

/** A table; a heading that begins with `#` is that of a column of numbers, and cells are markup. */
function renderTable(
  caption: string,
  headings: readonly string[],
  rows: readonly (readonly (string | number)[])[],
): string {
  const isNumber = headings.map((heading) => heading.startsWith("#"));
  const head = headings.map((heading, column) =>
    `<th scope="col"${isNumber[column] ? ' class="number"' : ""}>${heading.replace("#", "")}</th>`
  );
  const lines = rows.map((cells) =>
    `<tr>${
      cells.map((cell, column) => `<td${isNumber[column] ? ' class="number"' : ""}>${cell}</td>`)
        .join("")
    }</tr>`
  );
  return `<table>
${caption === "" ? "" : `<caption>${caption}</caption>\n`}<thead><tr>${head.join("")}</tr></thead>
<tbody>
${lines.join("\n")}
</tbody>
</table>`;
}

/** A part of the page that can be folded; `name` is for assistive technology. */
function renderPanel(
  attributes: string,
  summary: string,
  name: string,
  content: string,
): string {
  return `<details ${attributes}>
<summary>${summary}</summary>
<div class="panel-content" tabindex="0" role="region" aria-label="${name}">
${content}
</div>
</details>
`;
}

/** Renders the used part of each API; empty if there are none. */
export function renderCoveragePanels(records: readonly RunRecord[]): string {
  const ends = records.map(({ end }) => end);
  const verdict = verdictOfRuns(ends);
  const [name, icon] = verdict?.isEnough ? ["muted", "✓"] : ["alert", "✗"];
  return mergeCoverage(ends).map(renderApi).join("") +
    (verdict ? `<p class="${name}">${icon} ${escape(verdict.text)}</p>\n` : "");
}

function renderApi(api: ApiCoverage): string {
  const { operations, statuses, parameters } = coverageShares([api]);
  const name = `API coverage of ${escape(api.file)}`;
  const summary = `${name}: ${shareText(operations)} operations, ` +
    `${shareText(statuses)} status codes, ${shareText(parameters)} parameters`;
  const headings = ["Operation", "#Calls", "Status codes", "Parameters"];
  return renderPanel(
    'class="api-coverage panel"',
    summary,
    name,
    `<dl class="shares">
${renderShare("Operations", operations)}
${renderShare("Status codes", statuses)}
${renderShare("Parameters", parameters)}
</dl>
${renderTable("", headings, api.operations.map(operationCells))}`,
  );
}

/** A share as a bar, which needs no style. */
function renderShare(name: string, share: Share): string {
  const { covered, total } = share;
  const bar = total === 0
    ? ""
    : ` <meter min="0" max="${total}" value="${covered}">${covered} of ${total}</meter>`;
  return `<div><dt>${name}</dt><dd>${escape(shareText(share))}${bar}</dd></div>`;
}

function operationCells({ method, path, hits, statuses, parameters }: OperationCoverage) {
  const name = escape(`${method} ${path}`);
  const mark = (text: string, count: number) =>
    count > 0
      ? `<span class="called">✓ ${escape(text)} (${count})</span>`
      : `<span class="muted">✗ ${escape(text)}</span>`;
  return [
    hits > 0 ? name : `<span class="muted">${name}</span>`,
    hits,
    statuses.map(({ status, hits }) => mark(status, hits)).join(" "),
    parameters.map(({ name, hits }) => mark(name, hits)).join(" "),
  ];
}

/** The width of a value as JSON in characters, beyond which it takes several lines. */
const WIDEST = 60;

/** Renders how a run was started and with which vars; empty if neither is known. */
export function renderStartPanel({ args }: RunOrigin = {}, vars: Value = {}): string {
  const entries = isDict(vars) ? Object.entries(vars) : [];
  const parts = [
    ...args === undefined ? [] : ["Command line"],
    ...entries.length === 0 ? [] : [countOf(entries.length, "var")],
  ];
  if (parts.length === 0) return "";
  const line = args === undefined ? "" : `<pre>${escape(commandLine(args))}</pre>\n`;
  const rows = entries.map(([name, value]) => [
    `<code>${escape(name)}</code>`,
    `<code>${
      escape(typeof value === "string" ? value : renderJson(value, WIDEST).join("\n"))
    }</code>`,
  ]);
  const table = rows.length === 0 ? "" : renderTable("", ["Var", "Value"], rows);
  const summary = parts.join(" and ");
  return renderPanel('class="panel"', summary, summary, line + table);
}

function commandLine(args: readonly string[]): string {
  return ["runner", ...args.map(shellWord)].join(" ");
}

/** The maximum in a list: more would hide the worst. */
const MAX_UNSTABLE = 50;

const CHART = { bar: 8, gap: 3, height: 44, minHeight: 3 } as const;
const SQUARE = { size: 9, gap: 2 } as const;

/** The durations and states of runs as bars, the latest on the right; empty without earlier ones. */
export function renderHistoryChart(history: History | undefined): string {
  if (!history || history.length < 2) return "";
  const longest = Math.max(...history.map(({ duration }) => duration), 1);
  const width = history.length * (CHART.bar + CHART.gap) - CHART.gap;
  const bars = history.map((run, index) => {
    const height = Math.round(Math.max(CHART.minHeight, run.duration / longest * CHART.height));
    return `<rect class="${run.state}${run.isPartial ? " partial" : ""}" fill="${
      FILLS[run.state]
    }" x="${index * (CHART.bar + CHART.gap)}" y="${
      CHART.height - height
    }" width="${CHART.bar}" height="${height}" rx="1"><title>${describeRun(run)}</title></rect>`;
  });
  const failed = history.filter(({ state }) => state === "failed").length;
  const label = `Last ${history.length} runs: ${failed} failed`;
  return `<figure class="history-chart">
<svg role="img" aria-label="${label}" width="${width}" height="${CHART.height}" viewBox="0 0 ${width} ${CHART.height}">${
    bars.join("")
  }</svg>
<figcaption class="muted">${label}, up to ${formatElapsed(longest)}</figcaption>
</figure>
`;
}

/** The unstable tests and the runs of a history, each as a table; empty without a history. */
export function renderHistoryPanel(history: History | undefined): string {
  if (!history) return "";
  const attributes = 'id="history-part" class="panel"';
  if (history.length < 2) {
    const text = "<p>This is the first run in the history.</p>";
    return renderPanel(attributes, "History", "History", text);
  }
  const shown = history.map(({ load, ...run }): PageHistoryRun => {
    const { started, duration, state, isPartial, steps } = run;
    const loads = load?.map(([name, , , , , p95]) => [name, p95] as const);
    return { started, duration, state, isPartial, steps, loads };
  });
  const unstable = unstableTests(history);
  const count = unstable.length === 0 ? "no flaky tests" : countOf(unstable.length, "flaky test");
  const rows = unstable.slice(0, MAX_UNSTABLE).map(({ name, states, changes, retried, failed }) =>
    [escape(name), renderStates(states), failed || "", changes || "", retried || ""] as const
  );
  const rest = unstable.length - MAX_UNSTABLE;
  const tests = unstable.length === 0
    ? "<p>No test has changed its state, and none has needed a retry.</p>"
    : renderTable(
      "Flaky tests, which changed or needed retries",
      ["Test", "Runs", "#Failed", "#Changes", "#Retried"],
      rows,
    ) + (rest > 0 ? `\n<p>… and ${rest} more</p>` : "");
  const runs = renderTable(
    "Runs, the latest first",
    ["Started", "State", "#Duration", "#Steps passed", "#Flaky", "#Failed"],
    shown.toReversed().map((run) => {
      const state = `<span class="${run.state}">${run.state}</span>`;
      return [
        `<time>${timeText(run)}</time>`,
        state + (run.isPartial ? " (in part)" : ""),
        formatElapsed(run.duration),
        ...(["passed", "flaky", "failed"] as const).map((name) => run.steps?.[name] ?? ""),
      ];
    }),
  );
  const loads = compareLoads(history);
  const slower = loads.filter(({ isSlower }) => isSlower).length;
  const summary = `History: ${countOf(history.length, "run")}, ${count}` +
    (slower > 0 ? `, ${slower} slower under load` : "");
  const charts = `<div id="history-charts"></div>
<script id="history-data" type="application/json">${json(shown)}</script>`;
  return renderPanel(
    attributes,
    summary,
    "History",
    `${charts}\n${renderLoads(loads)}${tests}\n${runs}`,
  );
}

/** The load jobs and their steps, compared with earlier runs; empty if there are none. */
function renderLoads(loads: ReturnType<typeof compareLoads>): string {
  if (loads.length === 0) return "";
  const rows = loads.map(({ name, p95, median, runs, isSlower }) => {
    const change = median === 0 ? 0 : Math.round((p95 / median - 1) * 100);
    const text = `${change > 0 ? "+" : ""}${change}%`;
    return [
      escape(name),
      formatElapsed(p95),
      isSlower ? `<strong class="failed">▲ slower, ${text}</strong>` : text,
      formatElapsed(median),
      runs,
    ] as const;
  });
  const headings = ["Job or step", "#p95", "#Change", "#Median before", "#Runs before"];
  return `${renderTable("Times under load, compared with earlier runs", headings, rows)}\n`;
}

/** A square for each run, the latest on the right. */
function renderStates(states: readonly (TestState | undefined)[]): string {
  const { size, gap } = SQUARE;
  const squares = states.map((state, index) =>
    state === undefined
      ? ""
      : `<rect class="${state}" fill="${FILLS[state]}" x="${
        index * (size + gap)
      }" y="0" width="${size}" height="${size}" rx="2"/>`
  ).join("");
  const label = states.map((state) => state ?? "not run").join(", ");
  const width = states.length * (size + gap);
  return `<svg role="img" aria-label="${label}" width="${width}" height="${size}">${squares}</svg>`;
}

function describeRun(run: PageHistoryRun): string {
  const { failed = 0, flaky = 0 } = run.steps ?? {};
  return [
    timeText(run),
    run.isPartial ? `${run.state}, in part` : run.state,
    formatElapsed(run.duration),
    ...failed > 0 ? [countOf(failed, "failed step")] : [],
    ...flaky > 0 ? [countOf(flaky, "flaky step")] : [],
  ].join(" · ");
}

function timeText({ started }: PageHistoryRun): string {
  return `${new Date(started).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/** A workflow on the page; `prefix` begins the links into it. */
interface LinkedRun {
  readonly record: RunRecord;
  readonly prefix: string;
}

/** What failed, with the link to its row. */
interface FailedLink extends CauseNames {
  readonly part: FailedPart;
  readonly link: string;
  readonly workflow: string;
}

/** Nobody reads more of them. */
const [MAX_CAUSES, MAX_PARTS, WIDEST_CAUSE] = [50, 20, 200];

/** Renders what failed, by cause; empty where each failure has its own. In a suite it is open, and names workflows. */
export function renderCausesPanel(runs: readonly LinkedRun[], ofSuite?: true): string {
  const causes = causesOf(runs);
  const counts = causes.map(countParts);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === causes.length) return "";
  const summary = `${countOf(total, "failure")}, ${countOf(causes.length, "cause")}`;
  const items = causes.slice(0, MAX_CAUSES).map((parts) => renderCause(parts, ofSuite));
  const left = causes.length - MAX_CAUSES;
  const more = left > 0 ? `\n<p>… and ${countOf(left, "more cause")}</p>` : "";
  const content = `<ol class="causes">\n${items.join("\n")}\n</ol>${more}`;
  const attributes = `class="panel"${ofSuite ? " open" : ""}`;
  return renderPanel(attributes, summary, "Causes of failures", content);
}

function countParts(parts: readonly FailedLink[]): number {
  return parts.reduce((sum, { part: { count } }) => sum + count, 0);
}

function renderCause(parts: readonly FailedLink[], ofSuite?: true): string {
  const [{ part: { failures: [failure] } }] = parts as readonly [FailedLink];
  const place = failure?.place && `${failure.place.file}:${failure.place.line}`;
  const about = [place, countOf(countParts(parts), "failure")].filter(Boolean).join(" · ");
  const links = parts.slice(0, MAX_PARTS).map(({ part, link, workflow }) => {
    const title = (ofSuite ? `${workflow} › ` : "") + fullTitle(part);
    const times = part.count > 1 ? ` × ${part.count}` : "";
    return `<li><a href="${escape(link)}">${escape(title)}</a>${times}</li>`;
  });
  const left = parts.length - MAX_PARTS;
  if (left > 0) links.push(`<li>… and ${left} more</li>`);
  const text = failure ? cutLine(summarizeFailure(failure), WIDEST_CAUSE) : "failed";
  return `<li><strong class="failed">${escape(text)}</strong> <span class="muted">${
    escape(about)
  }</span>\n<ul>${links.join("")}</ul></li>`;
}

/** What failed, the most frequent cause first. */
function causesOf(runs: readonly LinkedRun[]): readonly (readonly FailedLink[])[] {
  return groupByCause(runs.flatMap(failedIn)).toSorted((one, other) =>
    countParts(other) - countParts(one)
  );
}

function failedIn(
  { record: { jobs, id, name: workflow }, prefix }: LinkedRun,
): readonly FailedLink[] {
  return jobs.flatMap((job) => {
    const path = encodeURIComponent(job.id);
    // Of rounds, their examples, which have rows on the page.
    return failedByThemselves(failedParts({ ...job, tally: undefined })).flatMap((part) => {
      const { allowFailure, step } = part;
      const link = prefix + (step ? `step=${path}/${pathOf(step.run)}` : `job=${path}`);
      return allowFailure ? [] : [{ part, link, workflow, ...causeNames(part, id) }];
    });
  });
}

function pathOf(run: StepRun): string {
  return (run.within ? `${pathOf(run.within)}/` : "") + keyOf(run);
}
