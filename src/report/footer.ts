import type { RunFinished } from "../run/event.ts";
import { formatSeconds } from "./format_time.ts";
import type { Style } from "./style.ts";
import { countOf, oneLine } from "./text_lines.ts";

/** The last line of a report: how long the run took and what came of it. */
export function renderFooter(event: RunFinished, style: Style): string {
  const time = style.dim(`Total workflow time: ${formatSeconds(event.duration)}`);
  const counts = countsOf(event);
  if (event.state === "passed") {
    const remark = counts === "" ? "" : style.dim(` (${counts})`);
    return `${time} ${style.green("✓ All jobs succeeded")}${remark}`;
  }
  const why = event.interrupted === undefined ? [] : [oneLine(event.interrupted)];
  const text = [...why, ...(counts === "" ? [] : [counts])].join("; ") || "failed";
  return `${time} ${style.red(`✗ ${text}`)}`;
}

function countsOf({ jobs, steps, untestedFailures, flaky, leftOut = 0 }: RunFinished): string {
  const chosen = jobs.passed + jobs.failed + jobs.skipped;
  return [
    failedAndSkipped(jobs, "job"),
    failedAndSkipped(steps, "step"),
    untestedFailures > 0 ? `${countOf(untestedFailures, "unsuccessful step")} not tested` : "",
    flaky > 0 ? `${countOf(flaky, "flaky step")}` : "",
    leftOut > 0 ? `${chosen} of ${countOf(chosen + leftOut, "job")} chosen` : "",
  ].filter((text) => text !== "").join("; ");
}

/** `2 jobs failed, 1 skipped`. */
function failedAndSkipped(
  { failed, skipped }: { readonly failed: number; readonly skipped: number },
  noun: string,
): string {
  const parts = failed > 0 ? [`${countOf(failed, noun)} failed`] : [];
  if (skipped > 0) parts.push(`${failed > 0 ? skipped : countOf(skipped, noun)} skipped`);
  return parts.join(", ");
}
