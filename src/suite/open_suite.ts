import { UsageError } from "../base/errors.ts";
import type { Host } from "../host/host.ts";
import { isManyFiles, isSuite, type OpenSuite, readWorkflow, type SuiteFile } from "./suite.ts";

/** What operands name: one workflow, which was read, or a suite. */
type OpenOperands = { readonly workflow: SuiteFile } | { readonly suite: OpenSuite };

/**
 * Opens what the operands of a command name. A suite is several files, a directory, a pattern, or
 * a file that lists workflows, of which the files that follow it choose some; its workflows are
 * found through the host `search`. Throws LoadError for a suite file with errors; those of a
 * workflow are kept until it is loaded.
 */
export async function openOperands(
  operands: readonly string[],
  host: Host,
  search = host,
): Promise<OpenOperands> {
  const [path = "", ...chosen] = operands;
  if (await isManyFiles(path, host.files)) return { suite: suiteOfOperands(operands, search) };
  const workflow = await readWorkflow(path, host);
  const { document } = workflow;
  if (document && !path.includes(",") && isSuite(document)) {
    const { suiteOfFile } = await import("./suite_of_file.ts");
    return { suite: await suiteOfFile(path, document, host, search, chosen) };
  }
  return chosen.length === 0 ? { workflow } : { suite: suiteOfOperands(operands, search) };
}

/** The suite of several files, directories and patterns. */
export function suiteOfOperands(operands: readonly string[], host: Host): OpenSuite {
  return {
    envFiles: [],
    report: [],
    warnings: [],
    templates: [],
    async findFiles() {
      const { findWorkflows } = await import("./find_workflows.ts");
      const found = await findWorkflows(operands, host);
      for (const { path, document } of found.workflows) {
        if (!document || !isSuite(document)) continue;
        throw new UsageError(
          `the suite file '${path}' is not the first operand`,
          `runner ${path} runs it; files after it choose some of its workflows`,
        );
      }
      return { setup: [], teardown: [], ...found };
    },
  };
}
