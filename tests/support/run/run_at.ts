import { type RunReports, runReports } from "./run_reports.ts";

/** Runs a workflow, as `w.yml`, whose `{url}` is the address of a rig. */
export function runAt(yaml: string, args: readonly string[] = []): Promise<RunReports> {
  return runFilesAt({ "w.yml": yaml }, [...args, "w.yml"]);
}

/** Runs files in which `{url}` is the address of a rig. */
export function runFilesAt(
  files: Readonly<Record<string, string>>,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<RunReports> {
  return runReports(files, { args, env });
}
