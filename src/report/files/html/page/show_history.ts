import { formatElapsed } from "../../../../base/value/duration.ts";
import type { PageHistoryRun } from "../page_data.ts";
import { type LineChart, lineChart, numberTicks } from "./chart.ts";
import { addEventListener, document, find, show } from "./dom.ts";
import { makeTicks } from "./waterfall.ts";

/** Two charts beside each other need that much. */
const [GAP, NARROWEST] = [32, 420];

/** Draws how long the runs of a history took, and the share of their steps that passed. */
export function showHistory(): void {
  const data = document.getElementById("history-data");
  if (!data) return;
  const runs: readonly PageHistoryRun[] = JSON.parse(data.textContent!);
  const [panel, charts] = [find("history-part"), find("history-charts")];
  const draw = () => {
    const space = charts.clientWidth;
    if (space === 0) return;
    const half = Math.floor((space - GAP) / 2);
    const width = half < NARROWEST ? space : half;
    show(
      charts,
      lineChart(durationsOf(runs, width)),
      lineChart(sharesOf(runs, width)),
      runs.at(-1)!.loads && lineChart(loadsOf(runs, width)),
    );
  };
  panel.addEventListener("toggle", draw);
  addEventListener("resize", draw);
  draw();
}

function durationsOf(runs: readonly PageHistoryRun[], width: number): LineChart {
  const longest = Math.max(1, ...runs.map(({ duration }) => duration));
  const ticks = makeTicks(longest * 1.1, 4);
  return {
    title: "Duration",
    width,
    x: axisOf(runs),
    y: { to: Math.max(longest, ticks.at(-1)!), ticks, format: formatElapsed },
    lines: [{
      name: "duration",
      tone: "note",
      points: runs.map(({ duration }, index) => [index, duration]),
      marks: runs.map(({ state, isPartial }) => isPartial ? `${state}.partial` : state),
    }],
  };
}

function sharesOf(runs: readonly PageHistoryRun[], width: number): LineChart {
  const shareOf = ({ steps }: PageHistoryRun, name: "passed" | "flaky") =>
    steps && steps.passed + steps.failed > 0
      ? steps[name] / (steps.passed + steps.failed) * 100
      : undefined;
  return {
    title: "Steps that passed, and those that needed a retry",
    width,
    x: axisOf(runs),
    y: { to: 100, ticks: numberTicks(100), format: (share) => `${Math.round(share * 10) / 10}%` },
    lines: [
      {
        name: "passed",
        tone: "good",
        points: runs.map((run, index) => [index, shareOf(run, "passed")]),
        marks: runs.map(({ state }) => state),
      },
      {
        name: "flaky",
        tone: "warn",
        isDashed: true,
        points: runs.map((run, index) => [index, shareOf(run, "flaky")]),
      },
    ],
  };
}

/** The lines of a chart that can be told apart. */
const TONES = ["note", "warn", "good", "bad", "extra", "muted"] as const;

function loadsOf(runs: readonly PageHistoryRun[], width: number): LineChart {
  const lines = runs.at(-1)!.loads!.slice(0, TONES.length).map(([name], index) => ({
    name,
    tone: TONES[index]!,
    points: runs.map(({ loads = [] }, at) =>
      [at, loads.find(([one]) => one === name)?.[1]] as const
    ),
  }));
  const times = lines.flatMap(({ points }) => points.map(([, time = 0]) => time));
  const longest = Math.max(...times);
  const ticks = makeTicks(longest * 1.1, 4);
  const y = { to: Math.max(longest, ticks.at(-1)!), ticks, format: formatElapsed };
  return { title: "p95 under load", width, x: axisOf(runs), y, lines };
}

/** The runs at equal distances, whenever they were. */
function axisOf(runs: readonly PageHistoryRun[]): LineChart["x"] {
  const last = runs.length - 1;
  return {
    to: last,
    ticks: [0, last],
    format: (index) => new Date(runs[index]!.started).toISOString().slice(0, 16).replace("T", " "),
  };
}
