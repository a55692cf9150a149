import type { Failure } from "../../../run/event.ts";
import { printable } from "../../../source/printable.ts";
import { formatElapsed } from "../../../value/duration.ts";
import { countOf } from "../../text/text_lines.ts";
import { failureText } from "../details.ts";
import type { RunRecord } from "../run_record.ts";
import { briefFailure, flatSteps } from "./make_page_data.ts";

/** Nobody reads more of them. */
const MOST_WARNINGS = 20;
const MOST_FAILURES = 100;

/** Letters that fit into a few lines. */
const LONG = 300;

/** The header: the name of the run, its result, and when it ran. */
export function renderHead(record: RunRecord): string {
  const { name, description, end, warnings, file, tool } = record;
  const state = end?.state ?? "failed";
  const alert = end ? end.interrupted : "The run was cut off: this is how far it came";
  const warned = warnings.slice(0, MOST_WARNINGS).map(({ text }) => `<li>${escape(text)}</li>`);
  if (warnings.length > MOST_WARNINGS) {
    warned.push(`<li>… and ${warnings.length - MOST_WARNINGS} more</li>`);
  }
  return `<header>
<h1><span class="${state}" role="img" aria-label="${state}:">${iconOf(record)}</span> ${
    escape(name)
  }</h1>
${
    description === undefined
      ? ""
      : `${open("p", "description", description.length > LONG)}${escape(description)}</p>\n`
  }${alert === undefined ? "" : `<p class="alert">${escape(alert)}</p>\n`}<ul class="counts">${
    countsOf(record).map((item) => `<li>${item}</li>`).join("")
  }</ul>
<p class="muted">${escape(`${file} · ${tool.name} ${tool.version}`)}</p>
${
    warned.length === 0
      ? ""
      : `${open("ul", "warnings", warned.length > 2)}${warned.join("")}</ul>\n`
  }</header>`;
}

/** `✓ Shop`. */
export function renderTitle(record: RunRecord): string {
  return `${iconOf(record)} ${escape(record.name)}`;
}

/** What failed, for those who have scripts switched off. */
export function renderWithoutScripts({ jobs, end }: RunRecord): string {
  const failed: string[] = [];
  let count = 0;
  const add = (title: string, failures: readonly Failure[]) => {
    if (++count > MOST_FAILURES) return;
    const text = failureText(failures.map(briefFailure));
    failed.push(`<h2>${escape(title)}</h2>\n<pre>${escape(text)}</pre>`);
  };
  for (const { name, failures, steps } of jobs) {
    if (failures.length > 0) add(name, failures);
    for (const { step: { result } } of flatSteps(steps)) {
      if (result.failures.length > 0) add(`${name} › ${result.name}`, result.failures);
    }
  }
  if (count > MOST_FAILURES) failed.push(`<p>… and ${count - MOST_FAILURES} more failures</p>`);
  if (count === 0 && end?.state === "passed") failed.push("<p>Nothing failed.</p>");
  return `<p>Jobs and steps are shown by a script, and scripts are switched off.</p>\n${
    failed.join("\n")
  }`;
}

/** Begins an element; a long one scrolls, and so must be within reach of the keyboard. */
function open(tag: string, name: string, isLong: boolean): string {
  return `<${tag} class="${name}"${isLong ? ' tabindex="0"' : ""}>`;
}

/** A text as markup that shows it. */
export function escape(text: string): string {
  return printable(text).replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;")
    .replace(/"/g, "&quot;");
}

function iconOf({ end }: RunRecord): string {
  return end?.state === "passed" ? "✓" : "✗";
}

function countsOf({ end, started }: RunRecord): string[] {
  const date = new Date(started).toISOString();
  const when = `<time datetime="${date}">${date.slice(0, 19).replace("T", " ")} UTC</time>`;
  if (!end) return [when];
  const { jobs, steps, flaky, leftOut = 0 } = end;
  const chosen = sum(jobs);
  return [
    `${countOf(chosen, "job")}: ${statesOf(jobs)}`,
    `${countOf(sum(steps), "step")}: ${statesOf(steps)}`,
    ...flaky > 0 ? [`<span class="flaky">${countOf(flaky, "flaky step")}</span>`] : [],
    ...leftOut > 0 ? [`${chosen} of ${countOf(chosen + leftOut, "job")} selected`] : [],
    formatElapsed(end.duration),
    when,
  ];
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((all, count) => all + count, 0);
}

function statesOf(counts: Readonly<Record<string, number>>): string {
  const given = Object.entries(counts).filter(([, count]) => count > 0).map(([state, count]) =>
    `<span class="${state}">${count} ${state === "untested" ? "not tested" : state}</span>`
  );
  return given.length === 0 ? "none" : given.join(", ");
}
