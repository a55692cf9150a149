import { type Figure, HELLO, type Workbench } from "./bench.ts";

const SHAPES: Readonly<Record<string, (count: number) => string>> = {
  "steps in one job": (count) =>
    `name: n\njobs:\n  - name: j\n    steps:\n${"      - uses: hello\n".repeat(count)}`,
  "jobs in a chain": (count) =>
    "name: n\njobs:\n" +
    Array.from({ length: count }, (_, i) =>
      `  - {name: j, id: j${i}, ${i ? `needs: [j${i - 1}], ` : ""}steps: [{uses: hello}]}\n`)
      .join(""),
  "independent jobs": (count) =>
    `name: n\njobs:\n${"  - {name: j, steps: [{uses: hello}]}\n".repeat(count)}`,
};

/** The cost of many steps and jobs that do nothing. */
export async function* benchScale(workbench: Workbench): AsyncGenerator<Figure> {
  const hello = await workbench.write("hello.yml", HELLO);
  for (const [shape, make] of Object.entries(SHAPES)) {
    const ownTime = async (count: number) =>
      await workbench.ownTime([await workbench.write(`${count}.yml`, make(count))], [hello]);
    const small = await ownTime(1_000);
    const large = await ownTime(10_000);
    yield { what: `1,000 ${shape}, own time`, value: small, unit: "s", goal: { max: 0.3 } };
    yield {
      what: "10,000 of them against 1,000",
      value: large / small,
      unit: "times",
      goal: { max: 12 },
    };
  }
}
