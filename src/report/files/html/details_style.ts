/** The look of the details of a step or job. */
export const DETAILS_STYLE = `
#details {
  flex: 2; min-width: 0; overflow: auto; padding: 16px 20px 32px; border-left: 1px solid var(--line);
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
.badge.flaky, .badge.tolerated { background: var(--warn-back); }
.badge.skipped, .badge.untested { background: var(--note-back); }
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
th, td {
  text-align: left; vertical-align: top; padding: 3px 16px 3px 0; overflow-wrap: anywhere;
}
dl {
  margin: 4px 0; display: grid; grid-template-columns: fit-content(40%) minmax(0, 1fr);
  gap: 3px 16px;
}
dt { color: var(--muted); overflow-wrap: anywhere; }
dd { margin: 0; min-width: 0; overflow-wrap: anywhere; }
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
.sides {
  width: 100%; table-layout: fixed; border-collapse: separate; border-spacing: 0;
  border: 1px solid var(--line); border-radius: 6px; overflow: hidden;
}
.sides th { padding: 4px 10px; background: var(--raised); border-bottom: 1px solid var(--line); }
.sides td {
  font: 12px/1.6 var(--code); white-space: pre-wrap; overflow-wrap: anywhere; width: 50%;
  padding: 0 10px;
}
.sides th + th, .sides td + td { border-left: 1px solid var(--line); }
.sides .expected { background: var(--good-back); } .sides .received { background: var(--bad-back); }
button {
  font: inherit; color: var(--note); background: var(--back); border: 1px solid var(--line);
  border-radius: 6px; cursor: pointer;
}
button:hover { background: var(--raised); }
.copy { flex: none; font-size: 12px; line-height: 20px; padding: 1px 8px; color: var(--text); }
.outside { position: fixed; top: 0; left: -9999px; }
.to-copy { display: block; width: 100%; min-height: 6em; margin: 6px 0; font: 12px/1.6 var(--code); }
.phase-bar {
  display: flex; height: 10px; border-radius: 5px; overflow: hidden; background: var(--line);
}
.part-of { min-width: 2px; background: var(--muted); }
.part-of.dns, .dot.dns { background: var(--dns); }
.part-of.connect, .dot.connect { background: var(--connect); }
.part-of.tls, .dot.tls { background: var(--tls); }
.part-of.first_byte, .dot.first_byte { background: var(--wait); }
.part-of.download, .dot.download { background: var(--load); }
.legend { display: flex; flex-wrap: wrap; gap: 2px 16px; margin: 6px 0 0; padding: 0; }
.legend li { list-style: none; } .legend strong { font-weight: 600; }
.dot {
  display: inline-block; width: 9px; height: 9px; border-radius: 50%; margin-right: 6px;
  background: var(--muted);
}
[role=tablist] {
  display: flex; flex-wrap: wrap; gap: 0 4px; border-bottom: 1px solid var(--line);
}
[role=tab] {
  background: none; border: 1px solid transparent; border-bottom: 0; border-radius: 6px 6px 0 0;
  padding: 5px 10px; margin-bottom: -1px; color: var(--muted); font-size: 13px;
}
[role=tab][aria-selected=true] {
  background: var(--back); border-color: var(--line); color: var(--text); font-weight: 600;
}
[role=tabpanel] > :first-child { margin-top: 12px; }
[role=tabpanel] > p + section > h3 { margin-top: 8px; }
`;
