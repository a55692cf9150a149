import { denoHost } from "../host/deno_host.ts";
import { loadWorkflow as load } from "../workflow/load_workflow.ts";
import { holdWorkflow } from "./handles.ts";
import type { Workflow } from "./types.ts";

/**
 * Loads and checks a workflow from a file, or from several whose paths are separated by commas.
 * Throws `LoadError` with everything that is wrong with it.
 *
 * @example Load a workflow
 * ```ts
 * import { loadWorkflow } from "@runner/runner";
 *
 * const workflow = await loadWorkflow("examples/hello.yml");
 * console.log(workflow.name, workflow.warnings.length);
 * ```
 */
export async function loadWorkflow(path: string): Promise<Workflow> {
  const { workflow, warnings } = await load(path, denoHost());
  const { name, description, document } = workflow;
  const about = description === undefined ? {} : { description };
  return holdWorkflow({ name, ...about, file: document.name, warnings }, workflow);
}
