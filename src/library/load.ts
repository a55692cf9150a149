import type { Host } from "../host/host.ts";
import { explained } from "./explained.ts";
import { holdWorkflow } from "./handles.ts";
import type { WrittenPermissions } from "../action/permissions/read_permissions.ts";
import type { Workflow } from "./types.ts";

/** The options for loading a workflow. */
export interface LoadOptions {
  /**
   * The permissions of the actions of its runs; everything by default. It is set here since plugins
   * and job files, which it restricts too, are read while a workflow is loaded.
   */
  readonly permissions?: WrittenPermissions;
}

/**
 * Loads and checks a workflow from a file, or from several whose paths are separated by commas.
 * Relative paths begin at the working directory; a URL such as
 * `new URL("flow.yml", import.meta.url)` names a file beside the program.
 *
 * Throws `LoadError` with everything that is wrong with it, and `UsageError` where permissions
 * cannot be read. Environment variables about the format apply as they do on
 * the command line: `RUNNER_CONFIG`, `RUNNER_PLUGIN_DIR` and those that begin with `RUNNER_MAX_`.
 *
 * @example Load a workflow
 * ```ts
 * import { loadWorkflow } from "@runner/runner";
 *
 * const workflow = await loadWorkflow("examples/hello.yml");
 * console.log(workflow.name, workflow.warnings.length);
 * ```
 *
 * @example Say what is wrong with one, and what it may reach
 * ```ts
 * import { LoadError, loadWorkflow } from "@runner/runner";
 *
 * try {
 *   const permissions = { net: ["127.0.0.1:8080"], noShell: true };
 *   await loadWorkflow("examples/no_such_file.yml", { permissions });
 * } catch (error) {
 *   if (!(error instanceof LoadError)) throw error;
 *   console.error(error.message);
 *   for (const { severity, code } of error.diagnostics) console.error(severity, code);
 * }
 * ```
 */
export async function loadWorkflow(
  path: string | URL,
  options: LoadOptions = {},
): Promise<Workflow> {
  const { loadWorkflow: load } = await import("../workflow/load_workflow.ts");
  const { denoHost } = await import("../host/deno_host.ts");
  const host = denoHost();
  const permissions = options.permissions && await readPermissions(options.permissions, host);
  try {
    const loaded = await load(await pathOf(path), host, permissions);
    const { workflow: { name, description, document }, warnings } = loaded;
    const about = description === undefined ? {} : { description };
    const seen = { name, ...about, file: document.name, warnings };
    return holdWorkflow(seen, { loaded, permissions });
  } catch (error) {
    throw await explained(error);
  }
}

/** Reads permissions as programs write them. Throws UsageError. */
export async function readPermissions(permissions: WrittenPermissions, host: Host) {
  const { readPermissions: read } = await import("../action/permissions/read_permissions.ts");
  return await read(permissions, host, (kind) => `permissions.${kind}`);
}

/** The path of a file that is named by path or URL. */
export async function pathOf(path: string | URL): Promise<string> {
  if (typeof path === "string") return path;
  return (await import("@std/path/from-file-url")).fromFileUrl(path);
}
