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

/** A name with a code for each sign that means something to Mermaid, Markdown or HTML. */
function label(name: string): string {
  const line = nameLine(name).replace(/[^\p{L}\p{M}\p{N}\p{Zs}\p{So}\u200d.,:/()\-]/gu, code);
  // Otherwise "1. build" and "- build" begin a list.
  const text = line.replace(/^(\d+)([.)])/, (_, digits, sign) => digits + code(sign))
    .replace(/^-/, code);
  return text === "" ? code(" ") : text;
}

function code(sign: string): string {
  return `#${sign.codePointAt(0)};`;
}
