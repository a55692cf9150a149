import { formatClock, formatSeconds } from "../format_time.ts";
import { countOf } from "../text_lines.ts";
import { failureText } from "./details.ts";
import type { RenderRecord } from "./file_format.ts";
import { makeDetails } from "./html/details.ts";
import { makeElement } from "./html/element.ts";
import { drawGraph } from "./html/graph.ts";
import { pageJobs, pageSteps } from "./html/make_page_data.ts";
import { makeRows } from "./html/rows.ts";
import { startPage } from "./html/start.ts";
import { STYLE } from "./html/style.ts";
import type { RunRecord } from "./run_record.ts";

/** Functions have no names of each other: they are handed over. */
const SCRIPT = `(${startPage})(${[makeElement, makeDetails, drawGraph, makeRows].join(",")});`;

/** More failures nobody reads who has scripts switched off. */
const MOST_FAILURES = 100;

/**
 * One page that shows a run and needs nothing else: it loads nothing, and what came from outside
 * is data in it, never markup.
 */
export async function makeHtmlReport(): Promise<RenderRecord> {
  const [style, script] = await Promise.all([hash(STYLE), hash(SCRIPT)]);
  const policy = `default-src 'none'; style-src ${style}; script-src ${script}; ` +
    "base-uri 'none'; form-action 'none'";
  return (record) => renderPage(record, policy);
}

async function hash(text: string): Promise<string> {
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text));
  return `'sha256-${btoa(String.fromCharCode(...new Uint8Array(digest)))}'`;
}

function* renderPage(record: RunRecord, policy: string): Iterable<string> {
  const { name, description, end, tool } = record;
  const state = end?.state ?? "failed";
  yield `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${state === "passed" ? "✓" : "✗"} ${text(name)}</title>
<style>${STYLE}</style>
</head>
<body>
<header>
<h1><span class="${state}" aria-hidden="true">${state === "passed" ? "✓" : "✗"}</span> ${
    text(name)
  }</h1>
${description === undefined ? "" : `<p>${text(description)}</p>`}
<ul class="counts">${summaryOf(record).map((item) => `<li>${text(item)}</li>`).join("")}</ul>
<p class="muted">${text(`${record.file} · ${tool.name} ${tool.version}`)}</p>
</header>
<details id="graph-part" ${record.jobs.length > 1 ? "open" : ""}>
<summary>${countOf(record.jobs.length, "job")}</summary>
<div id="graph" role="region" aria-label="Graph of the jobs" tabindex="0"></div>
</details>
<main>
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
</select>
<label for="search">Find</label>
<input id="search" type="search" placeholder="press / to search">
<span id="count" class="muted" role="status"></span>
</div>
<div id="rows" role="listbox" tabindex="0" aria-label="Jobs and steps"></div>
</div>
<section id="details" tabindex="0" aria-label="Details"><p class="muted">Choose a job or step.</p></section>
</main>
<noscript>${failuresOf(record)}</noscript>
<script id="data" type="application/json">`;
  yield* dataOf(record);
  yield `</script>\n<script>${SCRIPT}</script>\n</body>\n</html>\n`;
}

function summaryOf({ end, started }: RunRecord): string[] {
  if (!end) return ["the run was cut off"];
  const { jobs, steps, interrupted } = end;
  return [
    ...interrupted === undefined ? [] : [interrupted],
    `${countOf(jobs.passed + jobs.failed + jobs.skipped, "job")}: ${countsOf(jobs)}`,
    `${countOf(steps.passed + steps.failed + steps.skipped + steps.untested, "step")}: ${
      countsOf(steps)
    }`,
    `${formatSeconds(end.duration)}`,
    `${new Date(started).toISOString().slice(0, 10)} ${formatClock(started)}`,
  ];
}

function countsOf(counts: Readonly<Record<string, number>>): string {
  const given = Object.entries(counts).filter(([, count]) => count > 0);
  return given.map(([state, count]) => `${count} ${state === "untested" ? "not tested" : state}`)
    .join(", ");
}

function failuresOf({ jobs }: RunRecord): string {
  const failed = jobs.flatMap((job) =>
    job.steps.filter(({ result }) => result.failures.length > 0).map(({ result }) =>
      `<h2>${text(`${job.name} › ${result.name}`)}</h2><pre>${
        text(failureText(result.failures))
      }</pre>`
    )
  );
  return failed.slice(0, MOST_FAILURES).join("\n");
}

function* dataOf(record: RunRecord): Iterable<string> {
  const duration = record.end?.duration ?? 0;
  yield `{"duration":${duration},"jobs":${json(pageJobs(record))},"steps":[`;
  let isFirst = true;
  for (const [index, job] of record.jobs.entries()) {
    for (const step of pageSteps(job, index, record)) {
      yield `${isFirst ? "" : ",\n"}${json(step)}`;
      isFirst = false;
    }
  }
  yield "]}";
}

/** Data inside of a script element, which the first `</script` would end. */
function json(value: unknown): string {
  return JSON.stringify(value).replaceAll("<", "\\u003c");
}

function text(plain: string): string {
  return plain.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;");
}
