import { countOf } from "../../../base/text/count_of.ts";
import { formatDuration, formatElapsed } from "../../../base/value/duration.ts";
import { MAX_RUNS, type Monitor, PERIODS, type Track } from "../../monitor.ts";
import { escape, iconOf, ICONS, iconUrl, renderTime, renderTitle } from "./head.ts";
import { hash, pageStart } from "./render_html.ts";
import { STYLE } from "./style.ts";

const MONITOR_STYLE = STYLE + `
main.monitor { display: block; height: auto; padding: 4px 20px 32px; }
.monitor h2 { margin: 20px 0 6px; } .monitor h3 { margin: 0; font-size: 14px; overflow-wrap: anywhere; }
.watched {
  display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr) auto; gap: 6px 28px;
  align-items: center; padding: 10px 0; border-top: 1px solid var(--line);
}
.runs { display: block; width: 100%; height: 36px; } svg .skipped { fill: var(--muted); }
.watched td, .watched th + th { text-align: right; font-variant-numeric: tabular-nums; }
.watched td:last-child, .watched th:last-child { padding-right: 0; }
.watched > .failure { grid-column: 1 / -1; margin: 0 0 6px; }
@media (max-width: 900px) {
  main.monitor { padding: 4px 16px 24px; }
  .watched { grid-template-columns: minmax(0, 1fr); }
}
`;

/** The page of a program that runs again and again: it needs no script, and allows none. */
export async function makeMonitorPage() {
  const policy = `default-src 'none'; style-src ${await hash(MONITOR_STYLE)}; img-src data:; ` +
    "base-uri 'none'; form-action 'none'";
  return {
    policy,
    /** `now` is in milliseconds since 1970, `interval` the time between the starts of two runs. */
    *render(monitor: Monitor, now: number, interval: number): Iterable<string> {
      const { last, failed, tracks } = monitor;
      const state = !last ? "skipped" : last.isPassed ? "passed" : "failed";
      // The run may also have failed as too little of an API was called.
      const name = last && renderTitle(last.records, last.suite).replace(/^\S+ /, "");
      const title = name === undefined ? "No run has ended yet" : `${ICONS[state]} ${name}`;
      yield pageStart(title, iconUrl(state), policy, MONITOR_STYLE);
      const links = [
        ...last ? ['<a href="report">report of the last run</a>'] : [],
        ...failed ? ['<a href="report?last=failed">of the last failed run</a>'] : [],
        '<a href="metrics">metrics</a>',
      ];
      const when = last
        ? `last run ${renderTime(last.started)}, took ${formatElapsed(last.duration)}; `
        : "";
      yield `<header>\n<div class="about">\n<h1>${
        name === undefined ? title : `${iconOf(state)} ${name}`
      }</h1>
<p class="origin muted"><span>${when}every ${formatDuration(interval)}</span> ${links.join(" ")}</p>
</div>\n</header>\n<main class="monitor">\n`;
      let end = "";
      for (const track of tracks.values()) {
        const { job, title, path } = track;
        if (job === "") {
          yield `${end}<section>
<h2>${escape(title)} <span class="muted">${escape(path)}</span></h2>\n`;
          end = "</section>\n";
        }
        yield renderTrack(track, now, failed?.started);
      }
      yield `${end}</main>\n</body>\n</html>\n`;
    },
  };
}

function renderTrack(track: Track, now: number, failed: number | undefined): string {
  const { job, title, state, since, streak, failure } = track;
  const name = job === "" ? "all jobs" : escape(title);
  const lasting = streak === 0
    ? "has not run"
    : `${state} since ${renderTime(since)}, ${countOf(streak, "run")} in a row`;
  return `<div class="watched">
<div><h3>${iconOf(state)} ${name}</h3><p class="muted">${lasting}</p></div>
${renderRuns(track)}
${renderPeriods(track, now)}
${failure ? renderFailure(failure, failed) : ""}</div>\n`;
}

/** Widths and heights of the bars, without a unit: the picture is as wide as there is room. */
const STEP = 4;
const HEIGHTS = { passed: 26, failed: 36, skipped: 12 } as const;

/** A bar for each run: those that failed are higher, for readers who see no colours. */
function renderRuns({ runs }: Track): string {
  const bars = runs.map(({ started, state, duration }, index) => {
    const height = HEIGHTS[state];
    const x = (MAX_RUNS - runs.length + index) * STEP;
    return `<rect class="${state}" x="${x}" y="${HEIGHTS.failed - height}" width="${STEP - 1}" ` +
      `height="${height}"><title>${new Date(started).toISOString().slice(0, 19)}Z ${state} ` +
      `${formatElapsed(duration)}</title></rect>`;
  });
  const counts = Object.keys(HEIGHTS).flatMap((state) => {
    const count = runs.filter((run) => run.state === state).length;
    return count === 0 ? [] : [`${count} ${state}`];
  });
  const label = `The last ${countOf(runs.length, "run")}: ${counts.join(", ")}`;
  return `<svg class="runs" viewBox="0 0 ${MAX_RUNS * STEP} ${HEIGHTS.failed}" ` +
    `preserveAspectRatio="none" role="img" aria-label="${label}">${bars.join("")}</svg>`;
}

function renderPeriods({ periods }: Track, now: number): string {
  const names = Object.keys(PERIODS) as (keyof typeof PERIODS)[];
  const summaries = names.map((name) => periods[name].summary(now));
  const cells = (texts: readonly (string | undefined)[]) =>
    texts.map((text) => `<td>${text ?? "–"}</td>`).join("");
  const shares = summaries.map((one) => one && `${percent(one.available)} %`);
  const times = summaries.map((one) => one && formatElapsed(one.p95));
  return `<table>
<thead><tr><td></td>${names.map((name) => `<th scope="col">${name}</th>`).join("")}</tr></thead>
<tbody><tr><th scope="row">available</th>${cells(shares)}</tr>
<tr><th scope="row">p95</th>${cells(times)}</tr></tbody>
</table>`;
}

/** To a hundredth, down: 100 is only what never failed. */
function percent(share: number): number {
  return Math.floor(share * 10_000) / 100;
}

function renderFailure(
  { started, title, message, place }: NonNullable<Track["failure"]>,
  failed: number | undefined,
): string {
  const about = [
    `last failure ${renderTime(started)}`,
    ...place === undefined ? [] : [escape(place)],
    ...started === failed ? ['<a href="report?last=failed">its report</a>'] : [],
  ];
  return `<div class="failure">
<p class="message">${escape(title)}: ${escape(message)}</p>
<p class="muted">${about.join(", ")}</p>
</div>\n`;
}
