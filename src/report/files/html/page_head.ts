import { printable } from "../../../base/text/printable.ts";
import { formatElapsed } from "../../../base/value/duration.ts";
import { countOf } from "../../text/lines.ts";
import { type RunRecord, stateOf } from "../run_record.ts";

/** Nobody reads more of them. */
const MOST_WARNINGS = 20;

/** Letters that fit into a few lines. */
const LONG = 300;

/** The header of a page, with what is to be beside it. */
export function renderHead(record: RunRecord, beside = ""): string {
  return `<header>
<div class="about">
${renderAbout(record, "h1")}</div>
${beside}</header>`;
}

/** The name of a run, its result, and when it ran. */
export function renderAbout(record: RunRecord, heading: "h1" | "h2"): string {
  const { name, description, end, warnings, file, tool } = record;
  const state = stateOf(record);
  const alert = end ? end.interrupted : "The run was cut off: this is how far it came";
  const warned = warnings.slice(0, MOST_WARNINGS).map(({ text }) => `<li>${escape(text)}</li>`);
  if (warnings.length > MOST_WARNINGS) {
    warned.push(`<li>… and ${warnings.length - MOST_WARNINGS} more</li>`);
  }
  return `<${heading}><span class="${state}" role="img" aria-label="${state}:">${
    ICONS[state]
  }</span> ${escape(name)}</${heading}>
${
    description === undefined
      ? ""
      : `${open("p", "description", description.length > LONG)}${escape(description)}</p>\n`
  }${alert === undefined ? "" : `<p class="alert">${escape(alert)}</p>\n`}<ul class="counts">${
    countsOf(record).map((item) => `<li>${item}</li>`).join("")
  }</ul>
<p class="muted">${escape(`${file} · ${tool.name} ${tool.version} · `)}${timeOf(record)}</p>
${
    warned.length === 0
      ? ""
      : `${open("ul", "warnings", warned.length > 2)}${warned.join("")}</ul>\n`
  }`;
}

/** `✓ Shop`. */
export function renderTitle(record: RunRecord): string {
  return `${ICONS[stateOf(record)]} ${escape(record.name)}`;
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

/** The signs of outcomes. */
export const ICONS = { passed: "✓", failed: "✗", skipped: "-" } as const;

function timeOf({ started }: RunRecord): string {
  const date = new Date(started).toISOString();
  return `<time datetime="${date}">${date.slice(0, 19).replace("T", " ")} UTC</time>`;
}

function countsOf({ end }: RunRecord): string[] {
  if (!end) return [];
  const { jobs, steps, flaky, leftOut = 0 } = end;
  const chosen = sum(jobs);
  return [
    `${countOf(chosen, "job")}: ${statesOf(jobs)}`,
    `${countOf(sum(steps), "step")}: ${statesOf(steps)}`,
    ...flaky > 0 ? [`<span class="flaky">${countOf(flaky, "flaky step")}</span>`] : [],
    ...leftOut > 0 ? [`${chosen} of ${countOf(chosen + leftOut, "job")} selected`] : [],
    formatElapsed(end.duration),
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
