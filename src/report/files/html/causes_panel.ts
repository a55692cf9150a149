import type { Failure } from "../../../run/event.ts";
import { causeOfRun } from "../../../run/cause_of_run.ts";
import { causeOf, type FailedPart, groupByCause } from "../../causes.ts";
import { countOf, cutLine } from "../../text/lines.ts";
import { isOnlyEmbedded, summarizeFailure } from "../../text/render_failure.ts";
import { labelOf } from "../cases.ts";
import type { RunRecord, StepRecord } from "../../record.ts";
import { escape } from "./head.ts";
import { keyOf } from "./page_data.ts";
import { renderPanel } from "./panels.ts";

/** A workflow on the page; `prefix` begins the links into it. */
interface LinkedRun {
  readonly record: RunRecord;
  readonly prefix: string;
}

/** A job or step that failed, or failures of one kind in the rounds of a step. */
interface FailedLink extends FailedPart {
  readonly title: string;
  readonly link: string;
  readonly failures: readonly Failure[];
  readonly count: number;
}

/** Nobody reads more of them. */
const [MAX_CAUSES, MAX_PARTS, WIDEST] = [50, 20, 200];

/** Renders what failed, by cause; empty where each failure has its own. */
export function renderCausesPanel(runs: readonly LinkedRun[]): string {
  const causes = causesOf(runs);
  const counts = causes.map(countParts);
  const total = counts.reduce((sum, count) => sum + count, 0);
  if (total === causes.length) return "";
  const summary = `${countOf(total, "failure")}, ${countOf(causes.length, "cause")}`;
  const items = causes.slice(0, MAX_CAUSES).map(renderCause);
  const left = causes.length - MAX_CAUSES;
  const more = left > 0 ? `\n<p>… and ${countOf(left, "more cause")}</p>` : "";
  const content = `<ol class="causes">\n${items.join("\n")}\n</ol>${more}`;
  return renderPanel('class="panel"', summary, "Causes of failures", content);
}

function countParts(parts: readonly FailedLink[]): number {
  return parts.reduce((sum, { count }) => sum + count, 0);
}

function renderCause(parts: readonly FailedLink[]): string {
  const [{ failures: [failure] }] = parts as readonly [FailedLink];
  const place = failure?.place && `${failure.place.file}:${failure.place.line}`;
  const about = [place, countOf(countParts(parts), "failure")].filter(Boolean).join(" · ");
  const links = parts.slice(0, MAX_PARTS).map(({ title, link, count }) =>
    `<li><a href="${escape(link)}">${escape(title)}</a>${count > 1 ? ` × ${count}` : ""}</li>`
  );
  const left = parts.length - MAX_PARTS;
  if (left > 0) links.push(`<li>… and ${left} more</li>`);
  const text = failure ? cutLine(summarizeFailure(failure), WIDEST) : "failed";
  return `<li><strong class="failed">${escape(text)}</strong> <span class="muted">${
    escape(about)
  }</span>\n<ul>${links.join("")}</ul></li>`;
}

/** What failed, the most frequent cause first. */
function causesOf(runs: readonly LinkedRun[]): readonly (readonly FailedLink[])[] {
  const groups = groupByCause(runs.flatMap(failedIn)).map(({ first, alike, caused }) => [
    first,
    ...alike,
    ...caused,
  ]);
  return groups.sort((one, other) => countParts(other) - countParts(one));
}

function failedIn({ record: { jobs, id }, prefix }: LinkedRun): readonly FailedLink[] {
  // A step that is the cause of others is one of the same run.
  const scoped = (cause: string | undefined) =>
    cause?.startsWith("job ") ? `${id} ${cause}` : cause;
  const stepsIn = (steps: readonly StepRecord[], title: string, path: string): FailedLink[] =>
    steps.flatMap(({ run, runs: count = 1, result, inside }) => {
      const { failures, state, exchange } = result;
      const name = `${title} › ${result.name}${labelOf(run.entry, run.round)}`;
      const link = `${path}/${keyOf(run)}`;
      const inner = stepsIn(inside, name, link);
      if (state !== "failed" || inner.length > 0 && isOnlyEmbedded(result)) return inner;
      const { cause, likeness } = causeOf(failures, exchange?.view?.request?.title);
      const causes = scoped(causeOfRun(run));
      return [...inner, {
        title: name,
        link,
        failures,
        count,
        cause: scoped(cause),
        causes,
        likeness,
      }];
    });
  return jobs.flatMap(({ id: job, name, failures, known, steps }) => {
    const path = encodeURIComponent(job);
    const own = {
      title: name,
      link: `${prefix}job=${path}`,
      failures,
      count: 1,
      ...causeOf(failures),
    };
    return [
      ...failures.length > 0 && !known ? [own] : [],
      ...stepsIn(steps, name, `${prefix}step=${path}`),
    ];
  });
}
