import { formatElapsed } from "../../../base/value/duration.ts";
import type { SuiteFinished } from "../../../run/event.ts";
import { countWorkflows, noSteps } from "../../../run/count_steps.ts";
import { countOf } from "../../text/lines.ts";
import { type RunRecord, stateOf, stateOfAll, type SuiteRecord, timesOf } from "../run_record.ts";
import type { IndexEntry } from "./page_data.ts";
import { escape, ICONS } from "./page_head.ts";

/** `✗ Nightly`, as the title of the page. */
export function renderSuiteTitle(
  records: readonly RunRecord[],
  suite: SuiteRecord | undefined,
): string {
  return `${ICONS[stateOfAll(records, suite)]} ${escape(nameOf(records, suite))}`;
}

function renderHeading(records: readonly RunRecord[], suite: SuiteRecord | undefined): string {
  const state = stateOfAll(records, suite);
  return `<span class="${state}" role="img" aria-label="${state}:">${ICONS[state]}</span> ${
    escape(nameOf(records, suite))
  }`;
}

function nameOf(records: readonly RunRecord[], suite: SuiteRecord | undefined): string {
  return suite?.start.name ?? countOf(totalOf(countsOf(records)), "workflow");
}

/** The workflows by state, as in the last line of the text. */
function countsOf(records: readonly RunRecord[]): SuiteFinished["workflows"] {
  return countWorkflows(records.map((record) => ({
    role: record.suite?.role,
    state: stateOf(record),
    steps: record.end?.steps ?? noSteps(),
  }))).workflows;
}

function totalOf({ passed, failed, skipped }: SuiteFinished["workflows"]): number {
  return passed + failed + skipped;
}

/** The text that the script of the page searches. */
export function indexEntries(records: readonly RunRecord[]): readonly IndexEntry[] {
  return records.map((record) => {
    const { name, file, jobs } = record;
    const names = jobs.flatMap((job) => [job.name, ...job.tags ?? []]);
    return { state: stateOf(record), text: [name, file, ...names].join("\n").toLowerCase() };
  });
}

/** The list of the workflows, each a link to its part of the page. */
export function renderIndex(
  records: readonly RunRecord[],
  suite: SuiteRecord | undefined,
  beside: string,
  panels: string,
): string {
  const { started, duration } = timesOf(records);
  const [tool] = records.map((record) => record.tool);
  const workflows = countsOf(records);
  const counts = (["passed", "failed", "skipped"] as const).flatMap((state) => {
    const count = workflows[state];
    return count === 0 ? [] : [`<span class="${state}">${count} ${state}</span>`];
  });
  const interrupted = suite && !suite.end
    ? "The run was cut off: this is how far it came"
    : suite?.end?.interrupted;
  const about = [
    new Date(suite?.start.time ?? started).toISOString().slice(0, 19).replace("T", " ") + " UTC",
    ...tool ? [`${tool.name} ${tool.version}`] : [],
  ].join(" · ");
  return `<nav><a id="to-index" href="#" hidden>all workflows</a></nav>
<section id="index" role="main">
<header>
<div class="about">
<h1>${renderHeading(records, suite)}</h1>
${
    interrupted === undefined
      ? ""
      : `<p class="alert">${escape(interrupted)}</p>\n`
  }<ul class="counts"><li>${countOf(totalOf(workflows), "workflow")}: ${
    counts.join(", ") || "none"
  }</li><li>${formatElapsed(suite?.end?.duration ?? duration)}</li></ul>
<p class="muted">${escape(about)}</p>
</div>
${beside}</header>
<div class="panels">
${panels}</div>
<div id="index-filters" class="filters" hidden>
<label for="index-show">Show</label>
<select id="index-show">
<option value="all">all</option>
<option value="failed">failed</option>
<option value="passed">passed</option>
<option value="skipped">skipped</option>
</select>
<label for="index-search">Find</label>
<input id="index-search" type="search" placeholder="press / to search" autocomplete="off">
<span id="index-count" class="muted" role="status"></span>
</div>
<div class="scrolls"><table>
<thead><tr><th scope="col">Workflow</th><th scope="col">File</th><th scope="col" class="number">Steps</th><th scope="col" class="number">Failed</th><th scope="col" class="number">Time</th></tr></thead>
<tbody>
${records.map(renderRow).join("\n")}
</tbody>
</table></div>
<p id="index-nothing" class="muted" hidden>Nothing to show.</p>
</section>
`;
}

function renderRow(record: RunRecord, index: number): string {
  const { name, file, end, suite } = record;
  const state = stateOf(record);
  const steps = end ? Object.values(end.steps).reduce((sum, count) => sum + count, 0) : 0;
  const failed = end?.steps.failed || "";
  const role = suite?.role === undefined ? "" : `${suite.role}: `;
  const icon = `<span class="${state}" role="img" aria-label="${state}:">${ICONS[state]}</span>`;
  return `<tr id="run-row-${index}"><td>${icon} <a href="#run-${index}">${
    escape(role + name)
  }</a></td>` +
    `<td class="muted">${escape(file)}</td><td class="number">${steps}</td>` +
    `<td class="number">${failed}</td><td class="number">${
      formatElapsed(end?.duration ?? 0)
    }</td></tr>`;
}
