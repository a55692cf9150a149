import { type Figure, median, type Workbench } from "./bench.ts";

const STEPS = 10_000;

/** What all reports together add to a run of many steps. */
export async function* benchReports(workbench: Workbench): AsyncGenerator<Figure> {
  const steps = Array.from(
    { length: STEPS },
    (_, i) =>
      `      - {name: step ${i}, uses: echo, with: {message: "number ${i}"},` +
      ` test: 'res.message == "number ${i}"'}\n`,
  );
  const file = await workbench.write(
    "steps.yml",
    `name: n\njobs:\n  - name: j\n    steps:\n${steps.join("")}`,
  );
  const ratios: number[] = [];
  const memory: number[] = [];
  for (let i = 0; i < 5; i++) {
    const bare = await workbench.runner(file);
    const told = await workbench.runner("--report-dir", workbench.path("reports"), file);
    ratios.push(told.seconds / bare.seconds);
    memory.push(told.megabytes - bare.megabytes);
  }
  yield {
    what: "10,000 steps with every report, against none",
    value: median(ratios),
    unit: "times",
    goal: { most: 1.25 },
  };
  yield { what: "memory on top", value: median(memory), unit: "MB", goal: { most: 100 } };
}
