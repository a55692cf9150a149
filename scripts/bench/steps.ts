import type { Figure, Workbench } from "./bench.ts";
import { protocols } from "./protocols.ts";

const ROOT = new URL("../../", import.meta.url);

/** Steps per second of actions that keep connections, against their libraries alone. */
export async function* benchSteps(workbench: Workbench): AsyncGenerator<Figure> {
  for await (const protocol of protocols(workbench.path(""))) {
    const { name, count, action, params, bare } = protocol;
    const seconds = async (many: number) => {
      const list = `[${Array.from({ length: many }, (_, n) => n).join(",")}]`;
      const step = `uses: ${action}, iteration: ${list}, with: ${params}, test: status == 0`;
      const flow = `name: n\njobs: [{ name: j, steps: [{ ${step} }] }]\n`;
      const path = await workbench.write("steps.yml", flow);
      return (await workbench.runner("-q", path)).seconds;
    };
    const alone = async (many: number) => {
      const path = await workbench.write("bare.js", bare);
      const config = new URL("deno.json", ROOT).pathname;
      return (await workbench.deno("run", "-A", "--config", config, path, `${many}`)).seconds;
    };
    // Without what starting takes.
    const ours = (count - 1) / (await seconds(count) - await seconds(1));
    const theirs = (count - 1) / (await alone(count) - await alone(1));
    yield { what: `steps per second: ${name}`, value: ours, unit: "per s" };
    yield {
      what: "relative to the library alone",
      value: ours / theirs,
      unit: "times",
      goal: { min: 0.7 },
    };
  }
}
