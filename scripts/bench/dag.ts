import { type Figure, HELLO, type Workbench } from "./bench.ts";

const LEVELS = 30;
const JOBS_A_LEVEL = 10;

/** Drawing a graph in which every job but the first ones needs three of the level before. */
export async function* benchDag(workbench: Workbench): AsyncGenerator<Figure> {
  const file = await workbench.write("graph.yml", graph());
  const hello = await workbench.write("hello.yml", HELLO);
  for (const form of [[], ["--mermaid"]]) {
    yield {
      what: `${["dag", ...form].join(" ")} on ${LEVELS * JOBS_A_LEVEL} jobs, own time`,
      value: await workbench.ownTime(["dag", ...form, file], ["dag", ...form, hello]),
      unit: "s",
      goal: { max: 0.2 },
    };
  }
}

function graph(): string {
  let text = "name: graph\njobs:\n";
  for (let level = 0; level < LEVELS; level++) {
    for (let index = 0; index < JOBS_A_LEVEL; index++) {
      // Steps of different lengths, so that edges cross.
      const needs = [index, index + level + 1, index * 3 + level]
        .map((other) => `j${level - 1}_${other % JOBS_A_LEVEL}`);
      text += `  - name: job ${level} ${index}\n    id: j${level}_${index}\n`;
      if (level > 0) text += `    needs: [${[...new Set(needs)].join(", ")}]\n`;
      text += "    steps: [{uses: hello}]\n";
    }
  }
  return text;
}
