import { type Figure, median, type Workbench } from "./bench.ts";
import { largeWorkflow } from "./large_workflow.ts";

/** `runner check` on a large workflow, from start to end. */
export async function* benchCheck(workbench: Workbench): AsyncGenerator<Figure> {
  const file = await workbench.write("large.yml", largeWorkflow());
  const seconds: number[] = [];
  for (let i = 0; i < 5; i++) seconds.push((await workbench.runner("check", file)).seconds);
  yield { what: "checking 5 MB", value: median(seconds), unit: "s", goal: { max: 1.5 } };
}
