import type { ApiCoverage, OperationCoverage } from "../../../base/value/api_coverage.ts";
import {
  coverageShares,
  mergeCoverage,
  type Share,
  shareText,
  verdictOfRuns,
} from "../../model/coverage.ts";
import type { RunRecord } from "../run_record.ts";
import { escape } from "./head.ts";

/** Renders a table of the used part of each API; empty if there are none. */
export function renderCoveragePanels(records: readonly RunRecord[]): string {
  const ends = records.map(({ end }) => end);
  const verdict = verdictOfRuns(ends);
  return mergeCoverage(ends).map(renderApi).join("") +
    (verdict
      ? `<p class="${verdict.isEnough ? "muted" : "alert"}">${verdict.isEnough ? "✓" : "✗"} ${
        escape(verdict.text)
      }</p>\n`
      : "");
}

function renderApi(api: ApiCoverage): string {
  const { operations, statuses, parameters } = coverageShares([api]);
  const summary = `API coverage of ${api.file}: ${shareText(operations)} operations, ` +
    `${shareText(statuses)} status codes, ${shareText(parameters)} parameters`;
  const name = escape(`API coverage of ${api.file}`);
  return `<details class="api-coverage panel">
<summary>${escape(summary)}</summary>
<div class="panel-content" tabindex="0" role="region" aria-label="${name}">
<dl class="shares">
${renderShare("Operations", operations)}
${renderShare("Status codes", statuses)}
${renderShare("Parameters", parameters)}
</dl>
<table>
<thead><tr><th scope="col">Operation</th><th scope="col" class="number">Calls</th><th scope="col">Status codes</th><th scope="col">Parameters</th></tr></thead>
<tbody>
${api.operations.map(renderOperation).join("\n")}
</tbody>
</table>
</div>
</details>
`;
}

/** A share as a bar, which needs no style. */
function renderShare(name: string, share: Share): string {
  const { covered, total } = share;
  const bar = total === 0
    ? ""
    : ` <meter min="0" max="${total}" value="${covered}">${covered} of ${total}</meter>`;
  return `<div><dt>${name}</dt><dd>${escape(shareText(share))}${bar}</dd></div>`;
}

function renderOperation({ method, path, hits, statuses, parameters }: OperationCoverage): string {
  const mark = (text: string, count: number) =>
    count > 0
      ? `<span class="called">✓ ${escape(text)} (${count})</span>`
      : `<span class="muted">✗ ${escape(text)}</span>`;
  const marks = (all: readonly string[]) => all.join(" ");
  const name = `${method} ${path}`;
  return `<tr><td>${
    hits > 0 ? escape(name) : `<span class="muted">${escape(name)}</span>`
  }</td><td class="number">${hits}</td><td>${
    marks(statuses.map((one) => mark(one.status, one.hits)))
  }</td><td>${marks(parameters.map((one) => mark(one.name, one.hits)))}</td></tr>`;
}
