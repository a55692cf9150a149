import type { Dag, DagOfMany, DagStep, SuiteDag } from "./dag.ts";
import { nameLine } from "./ascii_drawing.ts";

/** A graph as a Mermaid flowchart: a subgraph for each job, a node for each of its steps. */
export function renderMermaid(dag: Dag): string {
  return ["flowchart LR", ...workflowLines(dag, new NodeIds())].map((line) => line + "\n").join("");
}

/** The graphs of several workflows as one flowchart: a subgraph for each, around those of its jobs. */
export function renderMermaidSuite({ workflows }: SuiteDag): string {
  const ids = new NodeIds();
  const withNodes = workflows.map((dag) => ({ ...dag, node: ids.take(dag.name) }));
  const lines = withNodes.flatMap(({ node, ...dag }) => [
    `    subgraph ${node}["${label(dagTitle(dag))}"]`,
    ...workflowLines(dag, ids, `${node}_`).map((line) => `    ${line}`),
    "    end",
  ]);
  const of = (role: DagOfMany["role"]) => withNodes.filter((one) => one.role === role);
  const [before, main, after] = [of("setup"), of(undefined), of("teardown")];
  const edges = [
    ...before.flatMap((from) => main.map((to) => `    ${from.node} --> ${to.node}`)),
    ...after.flatMap((to) => main.map((from) => `    ${from.node} --> ${to.node}`)),
  ];
  return ["flowchart LR", ...lines, ...edges].map((line) => line + "\n").join("");
}

/** `setup: Sign in`. */
export function dagTitle({ name, role }: DagOfMany): string {
  return role === undefined ? name : `${role}: ${name}`;
}

function workflowLines({ jobs }: Dag, ids: NodeIds, prefix = ""): string[] {
  // Jobs choose first: their ids are the ones that people know.
  const idOf = new Map(jobs.map(({ id }) => [id, ids.take(prefix + id)]));
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
  return [...lines, ...edges];
}

/** Steps, each followed by those of the job that it embeds. */
function allSteps(steps: readonly DagStep[]): readonly DagStep[] {
  return steps.flatMap((step) => [step, ...allSteps(step.steps ?? [])]);
}

/** A name as plain text, with the syntax of Mermaid, its Markdown and HTML escaped. */
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

/** Gives out ids that Mermaid can read, each once. */
class NodeIds {
  readonly #taken = new Set<string>();

  /** The text as an id, with `_` for other characters and a number if it is taken. */
  take(text: string): string {
    const base = text.replace(/[^A-Za-z0-9_]/g, "_").replace(/^(?=\d)/, "n") || "node";
    let id = base;
    for (let number = 2; this.#taken.has(id) || isReserved(id); number++) {
      id = `${base}_${number}`;
    }
    this.#taken.add(id);
    return id;
  }
}

/** Reserved words of Mermaid, and names that every JavaScript object has, which break it. */
function isReserved(id: string): boolean {
  return WORDS.has(id) || id in Object.prototype;
}

const WORDS: ReadonlySet<string> = new Set([
  ...["end", "graph", "flowchart", "subgraph", "style", "linkStyle", "classDef", "class"],
  ...["click", "href", "call", "default", "interpolate", "_blank", "_self", "_top", "_parent"],
]);
