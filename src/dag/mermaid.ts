import type { Dag, DagStep } from "./dag.ts";
import { nameLine } from "./drawing/fit_name.ts";
import { NodeIds } from "./node_ids.ts";

/** A graph as a Mermaid flowchart: a subgraph for each job, a node for each of its steps. */
export function renderMermaid({ jobs }: Dag): string {
  const ids = new NodeIds();
  // Jobs choose first: their ids are the ones that people know.
  const idOf = new Map(jobs.map(({ id }) => [id, ids.take(id)]));
  const lines = jobs.flatMap(({ id, name, steps }) => {
    const job = idOf.get(id)!;
    const nodes = allSteps(steps).map((step, index) =>
      `        ${ids.take(`${job}_step${index}`)}["${label(step.name)}"]`
    );
    return [`    subgraph ${job}["${label(name)}"]`, ...nodes, "    end"];
  });
  const edges = jobs.flatMap(({ id, needs }) =>
    needs.map((need) => `    ${idOf.get(need)} --> ${idOf.get(id)}`)
  );
  return ["flowchart LR", ...lines, ...edges].map((line) => line + "\n").join("");
}

/** Steps, each followed by those of the job that it embeds. */
function allSteps(steps: readonly DagStep[]): readonly DagStep[] {
  return steps.flatMap((step) => [step, ...allSteps(step.steps ?? [])]);
}

/** A name as text alone, whatever it means to Mermaid, to its Markdown or to HTML. */
function label(name: string): string {
  const line = nameLine(name).replace(ALWAYS, codeOf).replace(AT_TIMES, codeOf)
    .replace(LIST, (_, number, sign) => number + codeOf(sign));
  return line === "" ? codeOf(" ") : line;
}

/** Quotes, entities, HTML, Markdown and addresses. */
const ALWAYS = /["#&<>`*~[\]\\@]/g;

/** `_so_`, `$$formula$$`, `%%{directive}%%`, `http://x`, `www.x` and `fa:fa-icon`. */
const AT_TIMES =
  /(?<![\p{L}\p{N}])_|_(?![\p{L}\p{N}])|\$(?=\$)|%(?=[%{])|:(?=\/\/|fa-)|(?<=www)\./gu;

/** `1. build`, `1) build`, `- build` and `+ build` begin a list. */
const LIST = /^(\d*)([.)+-])/;

function codeOf(sign: string): string {
  return `#${sign.codePointAt(0)};`;
}
