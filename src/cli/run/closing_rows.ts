import { formatElapsed } from "../../base/value/duration.ts";
import type { Host } from "../../host/host.ts";
import type { History } from "../../report/files/history.ts";
import type { ReportTarget } from "../../report/files/open_files.ts";
import { loadStyle } from "../../report/reporter.ts";
import { asText, roomOf } from "../../report/text/lines.ts";
import { renderSummary, type SummaryRow, textRow } from "../../report/text/summary.ts";
import type { RunEvent, StepTally } from "../../run/event.ts";
import type { Invocation, Program } from "../command.ts";

/** Follows the events of runs for the rows of the summary that are known when reports are written. */
export class ClosingRows {
  readonly #snapshots = { written: 0, updated: 0, passed: 0, failed: 0 };
  /** The jobs that have several rounds, by run and id: their tallies have the numbers. */
  readonly #repeated = new Set<string>();
  #failures = 0;

  take(event: RunEvent): void {
    switch (event.type) {
      case "job_started":
        if ((event.rounds ?? 1) !== 1) this.#repeated.add(`${event.runId} ${event.job}`);
        return;
      case "rounds_tallied":
        return event.steps.forEach((step) => this.#addRounds(step));
      case "step_finished":
        if (!event.result.snapshot || this.#repeated.has(`${event.runId} ${event.run.job}`)) return;
        this.#snapshots[event.result.snapshot.state]++;
        return;
      case "run_finished":
        if (event.state === "failed") this.#failures++;
    }
  }

  /** The number of new snapshots; nothing if there are none. */
  snapshots(): SummaryRow[] {
    const { written, updated } = this.#snapshots;
    const parts = [
      ...written > 0 ? [`${written} written`] : [],
      ...updated > 0 ? [`${updated} updated`] : [],
    ];
    return parts.length === 0 ? [] : [textRow("Snapshots", parts.join(" · "))];
  }

  /** The command that runs again what failed. */
  async next({ args }: Invocation, program: Program, isKept: boolean): Promise<SummaryRow[]> {
    if (this.#failures === 0 || !isKept) return [];
    const { lineWith } = await import("./run_origin.ts");
    // In one line, as it is to be copied.
    const text = lineWith("--rerun-failed", args, program);
    return [{ label: "Next", parts: [{ text }], isRemark: true }];
  }

  #addRounds({ snapshots = {}, inside }: StepTally): void {
    this.#snapshots.written += snapshots.written ?? 0;
    this.#snapshots.updated += snapshots.updated ?? 0;
    inside.forEach((step) => this.#addRounds(step));
  }
}

/** What of load jobs is slower than in earlier runs. */
export async function slowerRows(history: History): Promise<SummaryRow[]> {
  if (!history.at(-1)?.load) return [];
  const { slowerLoads } = await import("../../report/files/history.ts");
  return slowerLoads(history).map(({ name, p95, median, runs }, index) => {
    const change = Math.round((p95 / median - 1) * 100);
    const text = `${name}: p95 ${formatElapsed(p95)}, +${change} % against the median of the last`;
    return textRow(index === 0 ? "Slower" : "", `${text} ${runs} runs`);
  });
}

/** The reports that were written to files. */
export function reportRows(targets: readonly ReportTarget[]): SummaryRow[] {
  const paths = targets.flatMap(({ path, appends }) =>
    path === undefined || path === "-" || appends ? [] : [path]
  );
  return paths.length === 0 ? [] : [textRow("Reports", paths.join(" · "))];
}

/** The rows as text for an output. */
export async function closingText(
  rows: readonly SummaryRow[],
  { isTerminal, columns }: Host["stdout"],
  isColoured: boolean,
): Promise<string> {
  if (rows.length === 0) return "";
  const room = roomOf(isTerminal ? columns() : undefined);
  return asText(renderSummary(rows, await loadStyle(isColoured), room));
}
