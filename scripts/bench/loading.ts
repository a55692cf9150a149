import { parse } from "@std/yaml/parse";
import { denoHost } from "../../src/host/deno_host.ts";
import { loadWorkflow } from "../../src/workflow/load_workflow.ts";
import { type Figure, median, type Workbench } from "./bench.ts";
import { largeWorkflow } from "./large_workflow.ts";

/** Loading a large workflow, and how much of that is reading the YAML. */
export async function* benchLoading(workbench: Workbench): AsyncGenerator<Figure> {
  const text = largeWorkflow();
  const file = await workbench.write("large.yml", text);
  const ratios: number[] = [];
  const seconds: number[] = [];
  for (let i = 0; i < 5; i++) {
    const began = performance.now();
    parse(text, { schema: "core" });
    const parsed = performance.now();
    await loadWorkflow(file, denoHost());
    seconds.push((performance.now() - parsed) / 1000);
    ratios.push((performance.now() - parsed) / (parsed - began));
  }
  yield {
    what: "loading 5 MB against its YAML parser",
    value: median(ratios),
    unit: "times",
    note: `${median(seconds).toFixed(2)} s`,
    goal: { max: 5 },
  };
}
