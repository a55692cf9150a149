/** The look of the page, dark and light. */
export const STYLE = `
:root {
  color-scheme: light dark;
  --back: #ffffff; --raised: #f6f8fa; --line: #d1d9e0; --text: #1f2328; --muted: #59636e;
  --good: #1a7f37; --bad: #cf222e; --note: #0969da; --warn: #7d4e00; --select: #ddf4ff;
}
@media (prefers-color-scheme: dark) {
  :root {
    --back: #0d1117; --raised: #151b23; --line: #3d444d; --text: #f0f6fc; --muted: #9198a1;
    --good: #3fb950; --bad: #ff7b72; --note: #58a6ff; --warn: #d29922; --select: #1b2f4b;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; height: 100vh; display: flex; flex-direction: column;
  background: var(--back); color: var(--text); font: 14px/1.45 system-ui, sans-serif;
}
[hidden] { display: none !important; }
h1 {
  font-size: 20px; margin: 0; overflow-wrap: anywhere;
  display: -webkit-box; -webkit-box-orient: vertical; -webkit-line-clamp: 3; overflow: hidden;
}
h1, h2, p, li, dd, td, .head, .name { unicode-bidi: isolate; }
h2 { font-size: 16px; margin: 0 0 4px; overflow-wrap: anywhere; }
h3 { font-size: 13px; margin: 16px 0 4px; color: var(--muted); }
p { margin: 4px 0; overflow-wrap: anywhere; }
code, pre { font: 12px/1.5 ui-monospace, Consolas, monospace; }
pre {
  margin: 4px 0; padding: 8px; background: var(--raised); border: 1px solid var(--line);
  border-radius: 6px; overflow: auto; max-height: 24em; white-space: pre-wrap;
  overflow-wrap: anywhere;
}
header { padding: 12px 16px; border-bottom: 1px solid var(--line); }
.description, .warnings { max-height: 8em; overflow: auto; }
.alert { color: var(--bad); font-weight: 600; } .flaky { color: var(--warn); }
.warnings { margin: 4px 0 0; padding-left: 18px; color: var(--warn); overflow-wrap: anywhere; }
noscript { display: block; padding: 12px 16px; }
.passed { color: var(--good); } .failed, .unfinished { color: var(--bad); }
.skipped, .untested { color: var(--note); }
.counts .skipped, .counts .untested { color: inherit; } .muted { color: var(--muted); }
.counts { display: flex; flex-wrap: wrap; gap: 4px 16px; margin: 4px 0 0; padding: 0; }
.counts li { list-style: none; }
#graph-part { border-bottom: 1px solid var(--line); padding: 8px 16px; }
#graph-part summary { cursor: pointer; color: var(--muted); }
#graph { overflow: auto; max-height: 40vh; }
.graph text { fill: currentColor; font: 13px system-ui, sans-serif; }
.graph rect { fill: var(--raised); stroke: currentColor; stroke-width: 1.5; }
.graph .job { cursor: pointer; } .graph .critical rect { stroke-width: 3; }
.graph .edge { fill: none; stroke: var(--line); stroke-width: 1.5; }
.graph .edge.critical { stroke: var(--warn); stroke-width: 3; }
main { flex: 1; min-height: 240px; display: flex; }
.waterfall { flex: 3; min-width: 0; display: flex; flex-direction: column; }
.filters {
  display: flex; flex-wrap: wrap; gap: 8px; align-items: center; padding: 8px 16px;
  border-bottom: 1px solid var(--line);
}
input, select {
  font: inherit; color: inherit; background: var(--back); border: 1px solid var(--muted);
  border-radius: 6px; padding: 3px 8px;
}
#rows {
  flex: 1; min-height: 6em; position: relative; overflow: hidden scroll;
}
#nothing { padding: 8px 16px; }
.columns {
  display: grid; grid-template-columns: minmax(0, 2fr) minmax(0, 3fr) 84px; gap: 0 12px;
  align-items: center; padding: 0 16px; height: 28px;
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
.row:hover { background: var(--raised); } .row[aria-selected=true] { background: var(--select); }
.head { display: flex; align-items: center; gap: 6px; min-width: 0; }
.name { overflow: hidden; text-overflow: ellipsis; white-space: pre; }
.twist { display: inline-block; width: 1.2em; color: var(--muted); }
.track {
  height: 28px; position: relative; overflow: hidden;
  background: repeating-linear-gradient(to right, var(--line) 0 1px, transparent 1px var(--tick));
}
.bar {
  position: absolute; top: 10px; height: 8px; min-width: 2px; background: currentColor;
  border-radius: 2px;
}
.bar.critical { top: 8px; height: 12px; outline: 2px solid var(--warn); outline-offset: -2px; }
.phase { position: absolute; height: 4px; top: 18px; min-width: 1px; background: var(--muted); }
.phase.dns, .phase.connect { background: #8a63d2; }
.phase.tls { background: #b08800; }
.phase.first_byte { background: #2f81f7; }
.phase.download { background: #1a7f37; }
.bar.waiting { color: var(--muted); top: 13px; height: 2px; }
.bar.unfinished { opacity: .6; border-radius: 2px 0 0 2px; }
.time { text-align: right; color: var(--muted); font-variant-numeric: tabular-nums; }
.tag {
  flex: none; padding: 0 6px; border: 1px solid var(--warn); border-radius: 8px;
  color: var(--warn); font-size: 11px; line-height: 16px; font-weight: 400;
}
#details {
  flex: 2; min-width: 0; overflow: auto; padding: 12px 16px; border-left: 1px solid var(--line);
}
.failure { border-left: 3px solid var(--bad); padding-left: 10px; margin: 8px 0; }
.failure .message { color: var(--bad); font-weight: 600; white-space: pre-wrap; }
mark { background: none; color: var(--bad); text-decoration: underline wavy; font-weight: 700; }
table { border-collapse: collapse; margin: 4px 0; } th { color: var(--muted); font-weight: 400; }
th, td {
  text-align: left; vertical-align: top; padding: 2px 12px 2px 0; overflow-wrap: anywhere;
}
dl {
  margin: 4px 0; display: grid; grid-template-columns: fit-content(40%) minmax(0, 1fr); gap: 2px 12px;
}
dt { color: var(--muted); overflow-wrap: anywhere; } dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
.part { margin-top: 16px; } .part summary { cursor: pointer; }
.part h3 { display: inline-block; margin: 0; }
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
.value { overflow-wrap: anywhere; } .expected { color: var(--good); } .received { color: var(--bad); }
button {
  font: inherit; color: var(--note); background: none; border: 1px solid var(--line);
  border-radius: 6px; cursor: pointer;
}
.key { color: var(--note); }
:focus-visible { outline: 2px solid var(--note); outline-offset: -2px; }
@media (max-width: 900px) {
  body { height: auto; } main { flex-direction: column; }
  .description, .warnings { max-height: none; } #rows { max-height: 60vh; flex: none; }
  .columns { grid-template-columns: minmax(0, 3fr) minmax(0, 2fr) 72px; } .tag { display: none; }
  #details { border-left: 0; border-top: 1px solid var(--line); }
}
#index { overflow: auto; } #index table { margin: 0 16px; border-collapse: collapse; width: calc(100% - 32px); }
#index th, #index td { padding: 0.3em 0.8em 0.3em 0; text-align: left; border-bottom: 1px solid var(--line); }
#index .number { text-align: right; font-variant-numeric: tabular-nums; }
#to-index { display: inline-block; margin: 8px 16px 0; }
`;
