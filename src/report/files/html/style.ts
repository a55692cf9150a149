/** The look of the page, dark and light. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --back: #ffffff; --raised: #f6f8fa; --line: #d8dee4; --text: #1f2328; --muted: #59636e;
  --good: #1a7f37; --bad: #cf222e; --note: #0969da; --warn: #7d4e00; --select: #ddf4ff;
  --good-back: #e6f9ea; --bad-back: #fff0ee; --warn-back: #fff8dc; --note-back: #e9f5ff;
  --found: #ffe58a; --dns: #8250df; --connect: #bf3989; --tls: #bf8700; --wait: #2f81f7;
  --load: #2da44e; --code: ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #0d1117; --raised: #151b23; --line: #343b44; --text: #f0f6fc; --muted: #9198a1;
    --good: #3fb950; --bad: #ff7b72; --note: #58a6ff; --warn: #d29922; --select: #17294a;
    --good-back: #12261e; --bad-back: #2d1618; --warn-back: #272115; --note-back: #121d2f;
    --found: #6b5300;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--back); color: var(--text);
  font: 14px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif;
}
.js #static { display: none; }
#static { padding: 12px 20px; max-width: 1000px; } #static header { padding: 12px 0; }
[hidden] { display: none !important; }
h1 {
  font-size: 22px; line-height: 1.3; font-weight: 650; margin: 0; overflow-wrap: anywhere;
  display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden;
}
h1 > .passed, h1 > .failed {
  display: inline-block; width: 28px; height: 28px; margin-right: 4px; border-radius: 50%;
  background: var(--good); color: var(--back); font-size: 16px; line-height: 28px;
  text-align: center; vertical-align: 2px;
}
h1 > .failed { background: var(--bad); }
h1, h2, p, li, dd, td, .head, .name { unicode-bidi: isolate; }
h2 { font-size: 17px; line-height: 1.35; margin: 0 0 4px; overflow-wrap: anywhere; }
h3 { font-size: 13px; font-weight: 600; margin: 20px 0 6px; }
p { margin: 4px 0; overflow-wrap: anywhere; }
code, pre { font: 12px/1.6 var(--code); }
a { color: var(--note); }
pre {
  margin: 4px 0; padding: 10px 12px; background: var(--raised); border: 1px solid var(--line);
  border-radius: 6px; overflow: auto; max-height: 30em; white-space: pre-wrap;
  overflow-wrap: anywhere;
}
header {
  display: flex; flex-wrap: wrap; gap: 12px 32px; align-items: center;
  justify-content: space-between; padding: 16px 20px 14px; border-bottom: 1px solid var(--line);
  border-top: 3px solid var(--good);
}
header:has(h1 > .failed) { border-top-color: var(--bad); }
#static header { border-top: 0; }
.about { flex: 1 1 420px; min-width: 0; }
.description, .warnings { max-height: 8em; overflow: auto; }
.alert { color: var(--bad); font-weight: 600; } .flaky { color: var(--warn); }
.warnings { margin: 6px 0 0; padding-left: 18px; color: var(--warn); overflow-wrap: anywhere; }
.passed { color: var(--good); } .failed, .unfinished { color: var(--bad); }
.skipped { color: var(--muted); } .untested { color: var(--note); } .allowed { color: var(--warn); }
.counts .skipped, .counts .untested { color: inherit; } .muted { color: var(--muted); }
.counts { display: flex; flex-wrap: wrap; gap: 6px; margin: 8px 0; padding: 0; }
.counts li {
  list-style: none; padding: 1px 10px; border: 1px solid var(--line); border-radius: 12px;
  background: var(--raised);
}
.counts span { font-weight: 600; }
.origin { display: flex; flex-wrap: wrap; gap: 0 14px; }
.history-chart { margin: 0; min-width: 0; font-size: 12px; }
.history-chart svg { display: block; max-width: 100%; margin-bottom: 4px; }
svg .passed { fill: var(--good); } svg .failed { fill: var(--bad); } svg .flaky { fill: var(--warn); }
svg .partial { opacity: .45; }
.chart-figure { margin: 12px 0; min-width: 0; } .chart-figure figcaption { font-size: 13px; }
.chart { display: block; max-width: 100%; touch-action: pan-y; }
.chart text { fill: var(--muted); font: 11px system-ui, sans-serif; }
.chart .end { text-anchor: end; } .chart .middle { text-anchor: middle; }
.chart .grid { stroke: var(--line); } .chart .cursor { stroke: var(--muted); }
.chart .line { fill: none; stroke-width: 1.75; stroke-linecap: round; } .chart .count { fill: var(--wait); }
.chart .band { fill: var(--raised); } .chart .band.odd { fill: var(--note-back); }
.chart .band.idle { fill: var(--line); opacity: .6; }
.numbers td, .numbers th + th {
  text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap;
}
.numbers [scope=row] { color: inherit; font-size: inherit; }
.thresholds { list-style: none; padding: 0; margin: 4px 0; overflow-wrap: anywhere; }
.thresholds strong { margin-left: 8px; }
.line.good { stroke: var(--good); } .line.bad { stroke: var(--bad); } .line.note { stroke: var(--note); }
.line.warn { stroke: var(--warn); } .line.extra { stroke: var(--dns); } .line.muted { stroke: var(--muted); }
.dot.good { background: var(--good); } .dot.bad { background: var(--bad); }
.dot.note { background: var(--note); } .dot.warn { background: var(--warn); }
.dot.extra { background: var(--dns); }
.panels { display: flex; flex-wrap: wrap; border-bottom: 1px solid var(--line); flex: none; }
.panels:empty { display: none; } .panels > p { margin: 0; padding: 7px 20px; }
.panel { flex: none; max-width: 100%; } .panel[open] { flex: 1 0 100%; }
.panel > summary {
  cursor: pointer; padding: 7px 20px; color: var(--muted); list-style: none; overflow-wrap: anywhere;
}
.panel > summary:hover { color: var(--text); background: var(--raised); }
.panel > summary::-webkit-details-marker, .part > summary::-webkit-details-marker { display: none; }
.panel > summary::before, .part > summary::before, .steps > summary::before {
  content: "▸"; content: "▸" / ""; display: inline-block; width: 1.2em; color: var(--muted);
}
.panel[open] > summary::before, .part[open] > summary::before, .steps[open] > summary::before {
  content: "▾"; content: "▾" / "";
}
.panel-content { padding: 4px 20px 16px; max-height: 70vh; overflow: auto; }
#history-part .panel-content { display: flex; flex-wrap: wrap; gap: 0 56px; align-items: flex-start; }
#history-charts { flex: 1 0 100%; display: flex; flex-wrap: wrap; gap: 0 32px; }
.panel td code { white-space: pre-wrap; } time { white-space: nowrap; }
.panel caption {
  text-align: left; color: var(--text); font-weight: 600; padding: 12px 0 4px; font-size: 13px;
}
.panel td, .panel th, #index td, #index th {
  padding: 5px 16px 5px 0; border-bottom: 1px solid var(--line);
}
.scrolls { overflow-x: auto; }
.causes { margin: 8px 0 0; padding-left: 24px; } .causes > li { margin-bottom: 8px; }
.causes ul { margin: 2px 0; padding-left: 18px; }
.shares { display: flex; flex-wrap: wrap; gap: 8px 32px; margin: 8px 0; }
.shares dd { font-weight: 600; } meter { width: 110px; vertical-align: middle; margin-left: 6px; }
.called { color: var(--good); } .number, th.number {
  text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap;
}
#graph { overflow: auto; max-height: 36vh; padding: 2px 20px 12px; }
.graph text { fill: currentColor; font: 13px system-ui, sans-serif; }
.graph rect { fill: var(--raised); stroke: currentColor; stroke-width: 1.25; }
.graph .failed rect { fill: var(--bad-back); } .graph .passed rect { fill: var(--good-back); }
svg.graph .job { cursor: pointer; } .graph .job:hover rect { stroke-width: 2; }
.graph .critical rect { stroke-width: 2.5; }
.edges { fill: none; stroke: var(--muted); stroke-width: 1.25; opacity: .6; }
.edges.critical { stroke: var(--warn); stroke-width: 2.5; opacity: 1; }
main { height: 100vh; display: flex; }
.waterfall { flex: 3; min-width: 0; display: flex; flex-direction: column; }
.filters {
  display: flex; flex-wrap: wrap; gap: 8px; align-items: center; padding: 8px 20px;
  border-bottom: 1px solid var(--line);
}
.filters label { color: var(--muted); }
.find { flex: 1 1 200px; min-width: 0; max-width: 460px; display: flex; gap: 8px; align-items: center; }
.filters input { flex: 1; min-width: 0; }
.filters button { width: 30px; height: 30px; }
input, select {
  font: inherit; color: inherit; background: var(--back); border: 1px solid var(--muted);
  border-radius: 6px; padding: 4px 8px; min-height: 30px;
}
#rows { flex: 1; min-height: 6em; position: relative; overflow: hidden auto; scrollbar-gutter: stable; }
.js:not(.whole) #rows, .js:not(.whole) #details { overflow: hidden; }
#nothing, #index-nothing { padding: 32px 20px; text-align: center; }
.columns {
  display: grid; grid-template-columns: minmax(0, 1fr) minmax(0, 1fr) 64px; gap: 0 12px;
  align-items: center; padding: 0 20px 0 13px; height: 28px; border-left: 3px solid transparent;
}
.axis {
  height: 24px; color: var(--muted); font-size: 12px; border-bottom: 1px solid var(--line);
  overflow: hidden;
}
.axis .track { align-self: stretch; height: auto; background: none; overflow: visible; }
.tick {
  position: absolute; top: 0; bottom: 0; padding: 2px 0 0 4px; white-space: nowrap;
  border-left: 1px solid var(--line);
}
.space { position: relative; }
.row { position: absolute; left: 0; right: 0; cursor: pointer; }
.row.job { font-weight: 600; background: var(--raised); }
.row:hover { background: var(--raised); }
.row[aria-selected=true] { background: var(--select); border-left-color: var(--note); }
.head { display: flex; align-items: center; gap: 6px; min-width: 0; }
.name { overflow: hidden; text-overflow: ellipsis; white-space: pre; flex-shrink: 0; max-width: 100%; }
.cause { overflow: hidden; text-overflow: ellipsis; white-space: pre; color: var(--muted); }
.icon { display: inline-block; width: 1.1em; text-align: center; font-weight: 700; }
.twist { display: inline-block; width: 1.2em; color: var(--muted); }
.track {
  height: 28px; position: relative; overflow: hidden;
  background: repeating-linear-gradient(to right, var(--line) 0 1px, transparent 1px var(--tick));
}
.bar {
  position: absolute; top: 9px; height: 10px; min-width: 3px; background: currentColor;
  border-radius: 3px;
}
.row.step .bar { opacity: .85; }
.bar.critical { top: 8px; height: 12px; outline: 2px solid var(--warn); outline-offset: -2px; }
.phase { position: absolute; height: 3px; top: 20px; min-width: 1px; background: var(--muted); }
.arrival { position: absolute; min-width: 2px; height: 14px; top: 7px; background: var(--note); }
.row.step .bar.waiting { color: var(--muted); top: 13px; height: 2px; opacity: .6; }
.row.step .bar.unfinished { opacity: .6; border-radius: 3px 0 0 3px; }
.time { text-align: right; color: var(--muted); font-variant-numeric: tabular-nums; }
.tag {
  flex: none; padding: 0 6px; border: 1px solid var(--line); border-radius: 8px;
  color: var(--muted); font-size: 11px; line-height: 16px; font-weight: 400;
}
.tag.flaky, .tag.critical { border-color: var(--warn); color: var(--warn); }
#details {
  flex: 2; min-width: 0; overflow: auto; padding: 16px 20px 32px; border-left: 1px solid var(--line);
  scrollbar-gutter: stable; container-type: inline-size;
}
#details > .muted:only-child { text-align: center; padding-top: 15vh; }
.title { display: flex; gap: 12px; align-items: flex-start; justify-content: space-between; }
.title h2 {
  min-width: 0; display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 4;
  overflow: hidden;
}
.facts { display: flex; flex-wrap: wrap; gap: 4px 10px; align-items: center; margin: 4px 0 8px; }
.badge {
  padding: 0 8px; border-radius: 10px; font-size: 12px; font-weight: 600; line-height: 20px;
  background: var(--raised);
}
.badge.passed { background: var(--good-back); } .badge.failed { background: var(--bad-back); }
.badge.flaky, .badge.allowed { background: var(--warn-back); }
.badge.untested { background: var(--note-back); }
.failure {
  border: 1px solid var(--line); border-left: 3px solid var(--bad); border-radius: 6px;
  padding: 8px 12px 10px; margin: 6px 0 10px;
}
.failure .message { color: var(--bad); font-weight: 600; white-space: pre-wrap; }
.failure > .copy { margin-top: 6px; }
.hint { color: var(--muted); }
mark { background: none; color: var(--bad); text-decoration: underline wavy; font-weight: 700; }
table { border-collapse: collapse; margin: 4px 0; }
th { color: var(--muted); font-weight: 400; font-size: 12px; }
th, td { text-align: left; vertical-align: top; padding: 3px 16px 3px 0; }
td .value { overflow-wrap: normal; }
dl {
  margin: 4px 0; display: grid; grid-template-columns: fit-content(40%) minmax(0, 1fr);
  gap: 3px 16px;
}
dt { color: var(--muted); overflow-wrap: anywhere; }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
.step-line {
  display: grid; grid-template-columns: 1.2em minmax(0, 1fr) auto; gap: 0 8px; padding: 4px 0;
  border-bottom: 1px solid var(--line);
}
.step-line p { margin: 0; } .steps > summary { cursor: pointer; }
.part { margin-top: 20px; } .part > summary { cursor: pointer; list-style: none; }
.part h3 { display: inline-block; margin: 0; } .line { margin: 6px 0; }
.line code { font-size: 13px; font-weight: 600; }
.buttons { display: flex; flex-wrap: wrap; gap: 6px; margin: 8px 0; }
img {
  display: block; max-width: 100%; height: auto; border: 1px solid var(--line);
  border-radius: 6px;
}
figure { margin: 8px 0 12px; } figcaption { color: var(--muted); font-size: 12px; }
.tree { padding-left: 1em; } .tree .tree { padding-left: 0; }
.tree ul { list-style: none; margin: 0; padding-left: 1.5em; }
.tree summary { cursor: pointer; list-style: none; position: relative; }
.tree summary::-webkit-details-marker { display: none; }
.tree summary::before {
  content: "▸"; content: "▸" / ""; position: absolute; right: 100%; padding-right: 3px;
  color: var(--muted);
}
.tree[open] > summary::before { content: "▾"; content: "▾" / ""; }
.tree[open] > summary > .folded { display: none; } .folded { color: var(--muted); }
.value { overflow-wrap: anywhere; } .key { color: var(--note); }
.expected { color: var(--good); } .received { color: var(--bad); }
.sides { width: 100%; border: 1px solid var(--line); }
.sides th { padding: 4px 10px; background: var(--raised); border-bottom: 1px solid var(--line); }
.sides td { font: 12px/1.6 var(--code); white-space: pre-wrap; width: 50%; padding: 0 10px; }
.sides th + th, .sides td + td { border-left: 1px solid var(--line); }
.sides .expected::before { content: "- "; } .sides .received::before { content: "+ "; }
.sides .same td::before { content: "  "; }
@container (max-width: 560px) {
  .sides tr, .sides th, .sides td { display: block; width: auto; }
  .sides th + th, .sides td + td { border-left: 0; }
  .sides tbody tr:not(:has(.expected, .received)) td + td, .sides .none { display: none; }
}
.sides .expected { background: var(--good-back); } .sides .received { background: var(--bad-back); }
button {
  font: inherit; color: var(--note); background: var(--back); border: 1px solid var(--line);
  border-radius: 6px; cursor: pointer;
}
button:hover { background: var(--raised); }
.copy { flex: none; font-size: 12px; line-height: 20px; padding: 1px 8px; color: var(--text); }
.outside { position: fixed; top: 0; left: -9999px; }
.phase-bar {
  display: flex; height: 10px; border-radius: 5px; overflow: hidden; background: var(--line);
}
.part-of { min-width: 2px; background: var(--muted); }
.legend { display: flex; flex-wrap: wrap; gap: 2px 16px; margin: 6px 0 0; padding: 0; }
.legend li { list-style: none; } .legend strong { font-weight: 600; }
.dot {
  display: inline-block; width: 9px; height: 9px; border-radius: 50%; margin-right: 6px;
  background: var(--muted);
}
.dns { background: var(--dns); } .connect { background: var(--connect); }
.tls { background: var(--tls); } .first_byte { background: var(--wait); }
.download { background: var(--load); }
.attempt { margin: 6px 0 0; }
.attempt[open] > :not(summary) { margin-left: 6px; padding-left: 12px; border-left: 1px solid var(--line); }
:focus-visible { outline: 2px solid var(--note); outline-offset: -2px; }
::highlight(found) { background: var(--found); color: var(--text); }
#index > .scrolls { padding: 0 20px; }
#index > .scrolls > table { width: 100%; }
#index tbody tr:hover { background: var(--raised); }
#index a { font-weight: 600; text-decoration: none; } #index a:hover { text-decoration: underline; }
#to-index { display: inline-block; padding: 8px 20px 0; text-decoration: none; }
#to-index::before { content: "← "; content: "← " / ""; }
dialog {
  color: inherit; background: var(--back); border: 1px solid var(--line); border-radius: 8px;
  padding: 16px 24px;
}
dialog::backdrop { background: #0006; } dialog button { padding: 4px 12px; }
kbd {
  font: 12px var(--code); padding: 1px 6px; border: 1px solid var(--line); border-radius: 4px;
  background: var(--raised);
}
@media print {
  main { height: auto; } #rows { max-height: 100vh; }
  .js:not(.whole) #details { overflow: visible; } .filters, .axis { display: none; }
}
@media (min-width: 1200px) { #details { flex: 3; } }
@media (max-width: 900px) {
  main { flex-direction: column; height: auto; }
  header, .filters, .panel > summary, .panel-content, #graph { padding-left: 16px; padding-right: 16px; }
  .description, .warnings { max-height: none; } .js #rows { max-height: 60vh; flex: none; } .js:not(.whole) #rows { overflow: hidden auto; }
  .columns { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr) 64px; padding: 0 12px; gap: 0 8px; }
  .tag { display: none; } .find { max-width: none; } .filters select { flex: 1 1 70%; }
  #details { border-left: 0; border-top: 1px solid var(--line); padding: 16px; }
  #index > .scrolls { padding: 0 16px; }
  #index > .scrolls th:nth-child(2), #index > .scrolls td:nth-child(2) { display: none; } .about { flex-basis: 100%; }
}
`;
