import { formatElapsed } from "../../base/value/duration.ts";
import type { Host } from "../../host/host.ts";
import type { History } from "../../report/files/history.ts";
import type { ReportTarget } from "../../report/files/open_files.ts";
import { loadStyle } from "../../report/reporter.ts";
import { asText, roomOf } from "../../report/text/lines.ts";
import { renderSummary, type SummaryRow, textRow } from "../../report/text/summary.ts";
import type { Change } from "../../report/record.ts";
import type { StepTally, StepTree } from "../../run/event.ts";
import type { Invocation, Program } from "../command.ts";

/** Counts what the rows of the summary say that are known when reports are written. */
export class ClosingRows {
  readonly #snapshots = { written: 0, updated: 0, passed: 0, failed: 0 };
  #failures = 0;

  take({ event, step }: Change): void {
    if (step) this.#addStep(step);
    else if (event.type === "rounds_tallied") event.steps.forEach((step) => this.#addRounds(step));
    else if (event.type === "run_finished" && event.state === "failed") this.#failures++;
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

  #addStep({ result: { snapshot }, inside }: StepTree): void {
    if (snapshot) this.#snapshots[snapshot.state]++;
    inside.forEach((step) => this.#addStep(step));
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
