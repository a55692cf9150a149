import { fromFileUrl } from "@std/path/from-file-url";
import { askTool } from "./ask_tool.ts";

const FOLDER = fromFileUrl(new URL("../tools/reports/", import.meta.url));

/**
 * What readers of others make of reports, by the names of their formats and in the same order: data
 * of `junit`, tests of `tap`, mistakes in `ctrf`, HTML of `markdown` by two renderers.
 */
export function readReports(
  reports: Readonly<Record<string, readonly string[]>>,
): Promise<Readonly<Record<string, readonly unknown[]>>> {
  return askTool(FOLDER, ["--frozen", "--config", "deno.json", "read_reports.ts"], reports);
}
