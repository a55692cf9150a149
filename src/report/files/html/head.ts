import { printable } from "../../../base/text/printable.ts";
import { formatElapsed } from "../../../base/value/duration.ts";
import { countWorkflows, noSteps, sumOf } from "../../../run/count_steps.ts";
import type { JobState, RunOrigin } from "../../../run/event.ts";
import { countOf } from "../../../base/text/count_of.ts";
import {
  loneRecord,
  type RunRecord,
  stateOf,
  stateOfAll,
  type SuiteRecord,
  timesOf,
} from "../../record.ts";
import type { IndexEntry } from "./page_data.ts";

const MAX_WARNINGS = 20;
/** Letters that fit into a few lines. */
const LONG = 300;

export const ICONS = { passed: "✓", failed: "✗", skipped: "-" } as const;

/** The colours without the style of the page, which a server may forbid. */
export const FILLS = {
  passed: "#1a7f37",
  failed: "#cf222e",
  flaky: "#9a6700",
  skipped: "#59636e",
} as const;

const CUT_OFF = "The run was cut off: this is how far it came";

/** Data inside of a script element, which the first `</script` would end. */
export function json(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

/** A text as markup that shows it. */
export function escape(text: string): string {
  return printable(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;");
}

/** `✓ Shop`. */
export function renderTitle(records: readonly RunRecord[], suite?: SuiteRecord): string {
  const name = loneRecord(records)?.name ?? suiteName(records, suite);
  return `${ICONS[wholeState(records, suite)]} ${escape(name)}`;
}

function wholeState(records: readonly RunRecord[], suite?: SuiteRecord): JobState {
  const lone = loneRecord(records);
  return lone ? stateOf(lone) : stateOfAll(records, suite);
}

const ICON_PATHS = { passed: "M4 8.5l3 3 5-6.5", failed: "M5 5l6 6m0-6l-6 6", skipped: "M4 8h8" };

/** The icon of the page, with its state, as the URL of a picture. */
export function renderIcon(records: readonly RunRecord[], suite?: SuiteRecord): string {
  return iconUrl(wholeState(records, suite));
}

/** The icon of a state, as the URL of a picture. */
export function iconUrl(state: JobState): string {
  const picture = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">` +
    `<circle cx="8" cy="8" r="8" fill="${FILLS[state]}"/>` +
    `<path d="${ICON_PATHS[state]}" fill="none" stroke="#fff" stroke-width="2"/></svg>`;
  return `data:image/svg+xml,${encodeURIComponent(picture)}`;
}

/** The header of a run or of a suite; `beside` is the markup next to it. */
function renderHeader(about: string, beside: string): string {
  return `<header>\n<div class="about">\n${about}</div>\n${beside}</header>`;
}

/** The header of a run; `beside` is the markup next to it. */
export function renderHead(record: RunRecord, beside = ""): string {
  return renderHeader(renderAbout(record, "h1"), beside);
}

/** The name of a run, its result, and when it ran. */
export function renderAbout(record: RunRecord, heading: "h1" | "h2"): string {
  const { name, description = "", end, warnings, file, origin } = record;
  const warned = warnings.slice(0, MAX_WARNINGS).map(({ text }) => `<li>${escape(text)}</li>`);
  if (warnings.length > MAX_WARNINGS) {
    warned.push(`<li>… and ${warnings.length - MAX_WARNINGS} more</li>`);
  }
  return `<${heading}>${iconOf(stateOf(record))} ${escape(name)}</${heading}>
${
    description &&
    `${open("p", "description", description.length > LONG)}${escape(description)}</p>\n`
  }${renderAlert(end ? end.interrupted : CUT_OFF)}<ul class="counts">${
    countsOf(record).map((item) => `<li>${item}</li>`).join("")
  }</ul>
<p class="origin muted">${
    [`<span>${escape(file)}</span>`, ...originItems(record, origin)].join(" ")
  }</p>
${
    warned.length === 0
      ? ""
      : `${open("ul", "warnings", warned.length > 2)}${warned.join("")}</ul>\n`
  }`;
}

/** When and where a run was, and of which commit. */
function originItems(
  { started, tool }: Pick<RunRecord, "started" | "tool">,
  { host, branch, commit, ci }: RunOrigin = {},
): string[] {
  const texts = [
    `${tool.name} ${tool.version}`,
    host && `on ${host}`,
    branch && `branch ${branch}`,
    commit && `commit ${commit.slice(0, 12)}`,
    ci && !ci.url && ci.name,
  ];
  const link = ci?.url ? [`<a href="${escape(ci.url)}">${escape(ci.name)}</a>`] : [];
  return [
    renderTime(started),
    ...texts.flatMap((text) => text ? [`<span>${escape(text)}</span>`] : []),
    ...link,
  ];
}

/** The symbol of a state, which assistive technology reads as its name. */
export function iconOf(state: JobState): string {
  return `<span class="${state}" role="img" aria-label="${state}:">${ICONS[state]}</span>`;
}

function renderAlert(text: string | undefined): string {
  return text === undefined ? "" : `<p class="alert">${escape(text)}</p>\n`;
}

/** Begins an element; a long one scrolls, so the keyboard must reach it. */
function open(tag: string, name: string, isLong: boolean): string {
  return `<${tag} class="${name}"${isLong ? ' tabindex="0"' : ""}>`;
}

/** `2026-08-01 12:00:00 UTC`, as markup. */
export function renderTime(time: number): string {
  const iso = new Date(time).toISOString();
  return `<time datetime="${iso}">${iso.slice(0, 19).replace("T", " ")} UTC</time>`;
}

function countsOf({ end }: RunRecord): string[] {
  if (!end) return [];
  const { jobs, steps, flaky, leftOut = 0 } = end;
  const selected = jobs.passed + jobs.failed + jobs.skipped;
  return [
    `${countOf(selected, "job")}: ${statesOf(jobs)}`,
    `${countOf(sumOf(steps), "step")}: ${statesOf(steps)}`,
    ...flaky > 0 ? [`<span class="flaky">${countOf(flaky, "flaky step")}</span>`] : [],
    ...leftOut > 0 ? [`${selected} of ${countOf(selected + leftOut, "job")} selected`] : [],
    formatElapsed(end.duration),
  ];
}

function statesOf(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts).filter(([, count]) => count > 0).map(([state, count]) =>
    `<span class="${state}">${count} ${state === "untested" ? "not tested" : state}</span>`
  ).join(", ") || "none";
}

function suiteName(records: readonly RunRecord[], suite: SuiteRecord | undefined): string {
  return suite?.start.name ?? countOf(sumOfWorkflows(records), "workflow");
}

function sumOfWorkflows(records: readonly RunRecord[]): number {
  const { passed, failed, skipped } = countSuite(records).workflows;
  return passed + failed + skipped;
}

/** The workflows and steps by state, as at the end of the text. */
function countSuite(records: readonly RunRecord[]): ReturnType<typeof countWorkflows> {
  return countWorkflows(records.map((record) => ({
    role: record.suite?.role,
    state: stateOf(record),
    steps: record.end?.steps ?? noSteps(),
  })));
}

/** The text that the script of the page searches. */
export function indexEntries(records: readonly RunRecord[]): readonly IndexEntry[] {
  return records.map((record) => {
    const names = record.jobs.flatMap((job) => [job.name, ...job.tags ?? []]);
    const text = [record.name, record.file, ...names].join("\n").toLowerCase();
    return { state: stateOf(record), text };
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
  const { workflows, steps } = countSuite(records);
  const tool = records[0]?.tool;
  const about = tool
    ? originItems({ started: suite?.start.time ?? started, tool }, suite?.start.origin)
    : [];
  const header = `<h1>${iconOf(stateOfAll(records, suite))} ${
    escape(suiteName(records, suite))
  }</h1>
${renderAlert(suite && !suite.end ? CUT_OFF : suite?.end?.interrupted)}<ul class="counts"><li>${
    countOf(sumOfWorkflows(records), "workflow")
  }: ${statesOf(workflows)}</li><li>${countOf(sumOf(steps), "step")}: ${statesOf(steps)}</li><li>${
    formatElapsed(suite?.end?.duration ?? duration)
  }</li></ul>
<p class="origin muted">${about.join(" ")}</p>
`;
  return `<nav><a id="to-index" href="#" hidden>all workflows</a></nav>
<section id="index" role="main">
${renderHeader(header, beside)}
<div class="panels">
${panels}</div>
${renderFilters("index-", ["all", "failed", "passed", "skipped"])}
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

/** The field and the list that filter what is shown; their ids begin with `prefix`. */
export function renderFilters(prefix: string, states: readonly string[]): string {
  const options = states.map((state) => {
    const label = { slow: "slowest tenth", untested: "not tested" }[state] ?? state;
    return `<option value="${state}">${label}</option>`;
  });
  return `<div id="${prefix}filters" class="filters" hidden>
<label for="${prefix}show">Show</label>
<select id="${prefix}show">
${options.join("\n")}
</select>
<span class="find"><label for="${prefix}search">Find</label>
<input id="${prefix}search" type="search" placeholder="press / to search" autocomplete="off"></span>
<span id="${prefix}count" class="muted" role="status"></span>
<button id="${prefix}keys" type="button" aria-label="Keys">?</button>
</div>`;
}

function renderRow(record: RunRecord, index: number): string {
  const { name, file, end, suite } = record;
  const title = suite?.role === undefined ? name : `${suite.role}: ${name}`;
  const link = `<a id="run-link-${index}" href="#run-${index}">${escape(title)}</a>`;
  return `<tr id="run-row-${index}"><td>${iconOf(stateOf(record))} ${link}</td>` +
    `<td class="muted">${escape(file)}</td><td class="number">${end ? sumOf(end.steps) : 0}</td>` +
    `<td class="number">${end?.steps.failed || ""}</td>` +
    `<td class="number">${formatElapsed(end?.duration ?? 0)}</td></tr>`;
}
