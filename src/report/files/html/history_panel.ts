import { formatElapsed } from "../../../base/value/duration.ts";
import { countOf } from "../../text/lines.ts";
import { type History, type HistoryRun, unstableTests } from "../history/history.ts";
import { escape } from "./head.ts";

/** More of them would hide the worst. */
const MOST_UNSTABLE = 50;

const CHART = { bar: 8, gap: 3, height: 44, least: 3 } as const;
const SQUARE = { size: 9, gap: 2 } as const;

/** The colours without the style of the page, which a server may forbid. */
const FILLS = { passed: "#1a7f37", failed: "#cf222e", flaky: "#9a6700" } as const;

/** The durations and states of runs as bars, the latest on the right; empty without any earlier. */
export function renderHistoryChart(history: History | undefined): string {
  if (!history || history.length < 2) return "";
  const longest = Math.max(...history.map(({ duration }) => duration), 1);
  const width = history.length * (CHART.bar + CHART.gap) - CHART.gap;
  const bars = history.map((run, index) => {
    const height = Math.max(CHART.least, run.duration / longest * CHART.height);
    return `<rect class="${run.state}${run.isPartial ? " partial" : ""}" fill="${
      FILLS[run.state]
    }" x="${index * (CHART.bar + CHART.gap)}" y="${
      round(CHART.height - height)
    }" width="${CHART.bar}" height="${round(height)}" rx="1"><title>${
      escape(describe(run))
    }</title></rect>`;
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
  if (history.length < 2) {
    return panel("History", "<p>This is the first run in the history.</p>");
  }
  const unstable = unstableTests(history);
  const title = `History: ${countOf(history.length, "run")}, ${
    unstable.length === 0 ? "no flaky tests" : countOf(unstable.length, "flaky test")
  }`;
  const more = unstable.length - MOST_UNSTABLE;
  const rows = unstable.slice(0, MOST_UNSTABLE).map(({ name, states, changes, retried, failed }) =>
    `<tr><td>${escape(name)}</td><td>${renderStates(states)}</td><td class="number">${
      failed || ""
    }</td><td class="number">${changes || ""}</td><td class="number">${retried || ""}</td></tr>`
  );
  const flaky = unstable.length === 0
    ? "<p>No test has changed its state, and none has needed a retry.</p>"
    : `<table>
<caption>Flaky tests, which changed or needed retries</caption>
<thead><tr><th scope="col">Test</th><th scope="col">Runs</th><th scope="col" class="number">Failed</th><th scope="col" class="number">Changes</th><th scope="col" class="number">Retried</th></tr></thead>
<tbody>
${rows.join("\n")}
</tbody>
</table>${more > 0 ? `\n<p>… and ${more} more</p>` : ""}`;
  const runs = history.toReversed().map((run) => {
    const { passed, flaky, failed } = countStates(run);
    return `<tr><td>${timeOf(run)}</td><td class="${run.state}">${run.state}${
      run.isPartial ? " (in part)" : ""
    }</td><td class="number">${
      formatElapsed(run.duration)
    }</td><td class="number">${passed}</td><td class="number">${flaky}</td><td class="number">${failed}</td></tr>`;
  });
  return panel(
    title,
    `${flaky}
<table>
<caption>Runs, the latest first</caption>
<thead><tr><th scope="col">Started</th><th scope="col">State</th><th scope="col" class="number">Duration</th><th scope="col" class="number">Passed</th><th scope="col" class="number">Flaky</th><th scope="col" class="number">Failed</th></tr></thead>
<tbody>
${runs.join("\n")}
</tbody>
</table>`,
  );
}

function panel(title: string, content: string): string {
  return `<details id="history-part" class="panel">
<summary>${title}</summary>
<div class="panel-content" tabindex="0" role="region" aria-label="History">
${content}
</div>
</details>
`;
}

/** A square for each run, the latest on the right. */
function renderStates(
  states: readonly (HistoryRun["tests"][number]["state"] | undefined)[],
): string {
  const width = states.length * (SQUARE.size + SQUARE.gap);
  const squares = states.map((state, index) =>
    state === undefined
      ? ""
      : `<rect class="${state}" fill="${FILLS[state]}" x="${
        index * (SQUARE.size + SQUARE.gap)
      }" y="0" width="${SQUARE.size}" height="${SQUARE.size}" rx="2"/>`
  );
  const label = states.map((state) => state ?? "not run").join(", ");
  return `<svg role="img" aria-label="${label}" width="${width}" height="${SQUARE.size}">${
    squares.join("")
  }</svg>`;
}

function describe(run: HistoryRun): string {
  const { failed, flaky } = countStates(run);
  const parts = [
    timeOf(run),
    run.isPartial ? `${run.state}, in part` : run.state,
    formatElapsed(run.duration),
    ...failed > 0 ? [countOf(failed, "failed test")] : [],
    ...flaky > 0 ? [countOf(flaky, "flaky test")] : [],
  ];
  return parts.join(" · ");
}

function countStates({ tests }: HistoryRun): Record<"passed" | "flaky" | "failed", number> {
  const counts = { passed: 0, flaky: 0, failed: 0 };
  for (const { state } of tests) counts[state]++;
  return counts;
}

function timeOf({ started }: HistoryRun): string {
  return `${new Date(started).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

function round(value: number): number {
  return Math.round(value * 10) / 10;
}
