import { countOf } from "../../../base/text/count_of.ts";
import { formatDuration, formatElapsed } from "../../../base/value/duration.ts";
import { MAX_RUNS, type Monitor, type Track } from "../../monitor.ts";
import { escape, iconOf, ICONS, iconUrl, renderTime, renderTitle } from "./head.ts";
import { hash, pageStart } from "./render_html.ts";
import { STYLE } from "./style.ts";

const MONITOR_STYLE = STYLE + `
main { display: block; height: auto; padding: 4px 20px 32px; }
h2 { margin: 20px 0 8px; } h3 { display: flex; gap: 5px; margin: 0; font-size: 14px; overflow-wrap: anywhere; }
.watched {
  display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr) 290px; gap: 4px 28px;
  align-items: center; padding: 10px 0; border-top: 1px solid var(--line);
}
.watched > p { grid-column: 1 / -1; } .down > li { margin: 4px 0; overflow-wrap: anywhere; }
.down { margin: 16px 0 0; padding: 6px 14px 6px 30px; border-left: 3px solid var(--bad); background: var(--bad-back); }
.runs {
  display: block; width: 100%; height: 36px;
  background: linear-gradient(90deg, var(--raised) 75%, transparent 0) bottom left / calc(100% / 90) 26px repeat-x;
}
svg .skipped { fill: var(--muted); }
td, thead th { text-align: right; width: 60px; font-variant-numeric: tabular-nums; white-space: nowrap; }
td:last-child, th:last-child { padding-right: 0; }
@media (max-width: 900px) {
  main { padding: 4px 16px 24px; } .watched { grid-template-columns: minmax(0, 1fr); }
}
`;

/** The page of a program that runs again and again: it needs no script, and allows none. */
export async function makeMonitorPage() {
  const policy = `default-src 'none'; style-src ${await hash(MONITOR_STYLE)}; img-src data:; ` +
    "base-uri 'none'; form-action 'none'";
  return {
    policy,
    /** `now` is in milliseconds since 1970, `interval` the time between the starts of two runs. */
    *render({ last, failed, tracks }: Monitor, now: number, interval: number): Iterable<string> {
      // The run may also have failed as too little of an API was called.
      const state = !last ? "skipped" : last.isPassed ? "passed" : "failed";
      const name = last
        ? renderTitle(last.records, last.suite).replace(/^\S+ /, "")
        : "No run has ended yet";
      yield pageStart(`${ICONS[state]} ${name}`, iconUrl(state), policy, MONITOR_STYLE);
      const about = [
        `<span>as of ${renderTime(now)}, every ${formatDuration(interval)}</span>`,
        ...last
          ? [`<span>last run ${renderTime(last.started)}, ${formatElapsed(last.duration)}</span>`]
          : [],
        ...last ? ['<a href="report">report of the last run</a>'] : [],
        ...failed ? ['<a href="report?last=failed">report of the last failed run</a>'] : [],
        '<a href="metrics">metrics</a>',
      ];
      yield `<header>\n<div class="about">\n<h1>${last ? iconOf(state) : ""} ${name}</h1>
<p class="origin muted">${about.join(" ")}</p>\n</div>\n</header>\n<main>\n`;
      yield* renderDown(tracks, now);
      for (const [index, track] of tracks.entries()) {
        const { file, job, name } = track;
        if (job === undefined) {
          const title = last?.suite ? `${escape(name)} <span class="muted">` : "<span>";
          yield `<h2>${title}${escape(file)}</span></h2>\n`;
        }
        yield renderTrack(track, index, now, failed?.started);
      }
      yield "</main>\n</body>\n</html>\n";
    },
  };
}

/** What has failed and does not pass yet, above all that is well. */
function* renderDown(tracks: readonly Track[], now: number): Iterable<string> {
  const down = [...tracks.entries()].filter(([, { state, job }]) =>
    state === "failed" && job !== undefined
  );
  if (down.length === 0) return;
  yield '<ul class="down">\n';
  for (const [index, { name, since, failure }] of down) {
    const { title = name, text = "", location = "" } = failure ?? {};
    yield `<li><a href="#job-${index}">${escape(title)}</a> has failed for ${
      formatElapsed(now - since)
    }: ${escape(text)} <span class="muted">${escape(location)}</span></li>\n`;
  }
  yield "</ul>\n";
}

function renderTrack(track: Track, index: number, now: number, failed: number | undefined): string {
  const { job, name, state, since, streak, failure } = track;
  const lasting = streak === 0
    ? "has not run"
    : `${state} for ${formatElapsed(now - since)}, since ${renderTime(since)}, ${
      countOf(streak, "run")
    } in a row`;
  return `<div class="watched" id="job-${index}">
<div><h3>${iconOf(state)} ${job === undefined ? "all jobs" : escape(name)}</h3>
<p class="muted">${lasting}</p></div>
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
  const summaries = periods.map((period) => period.summary(now));
  const cells = (texts: readonly (string | undefined)[]) =>
    texts.map((text) => `<td>${text ?? "–"}</td>`).join("");
  // To a hundredth, down: 100 is only what never failed.
  const shares = summaries.map((one) => one && `${Math.floor(one.available * 10_000) / 100} %`);
  const times = summaries.map((one) => one && formatElapsed(one.p95));
  return `<table>
<thead><tr><td></td>${
    periods.map(({ name }) => `<th scope="col">${name}</th>`).join("")
  }</tr></thead>
<tbody><tr><th scope="row">available</th>${cells(shares)}</tr>
<tr><th scope="row">p95</th>${cells(times)}</tr></tbody>
</table>`;
}

function renderFailure(
  { started, title, text, location }: NonNullable<Track["failure"]>,
  failed: number | undefined,
): string {
  const about = [
    `last failure ${renderTime(started)}`,
    ...location === undefined ? [] : [escape(location)],
    ...started === failed ? ['<a href="report?last=failed">its report</a>'] : [],
  ];
  return `<p><span class="muted">${about.join(", ")}:</span> ${escape(title)}: ${
    escape(text)
  }</p>\n`;
}
