import { fromFileUrl } from "@std/path/from-file-url";
import { askTool } from "./ask_tool.ts";

const DIRECTORY = fromFileUrl(new URL("../../tools/reports/", import.meta.url));

/**
 * The results of third-party report readers, by format and in the same order: data
 * of `junit`, tests of `tap`, mistakes in `ctrf`, HTML of `markdown` by two renderers.
 */
export function readReports(
  reports: Readonly<Record<string, readonly string[]>>,
): Promise<Readonly<Record<string, readonly unknown[]>>> {
  return askTool(DIRECTORY, ["--frozen", "--config", "deno.json", "read_reports.ts"], reports);
}
