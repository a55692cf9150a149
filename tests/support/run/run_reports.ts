import { type Rig, withRig } from "./rig.ts";
import type { CliResult } from "./run_cli.ts";
import { runMain } from "./run_main.ts";
import { withFiles } from "../temp_dir.ts";

/** The files that `--report-dir` writes. */
export const REPORT_FILES = [
  "junit.xml",
  "report.tap",
  "report.json",
  "events.ndjson",
  "ctrf.json",
  "summary.md",
  "report.html",
] as const;

/** The output and the files of a run. */
export interface RunReports extends CliResult {
  readonly seen: readonly string[];
  /** The texts of the files that the run left in the directory `reports`, by their names. */
  readonly reports: Readonly<Record<string, string>>;
}

interface RunReportsOptions {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

/** Runs `w.yml` of some files with every report; `{url}` in them is the address of a rig. */
export function runReports(
  files: Readonly<Record<string, string>>,
  { args = ["--no-check", "--report-dir", "reports", "w.yml"], env = {} }: RunReportsOptions = {},
): Promise<RunReports> {
  return withRig((rig) =>
    withFiles(atRig(files, rig), async (cwd) => {
      const result = await runMain(args, { cwd, env: { RIG_URL: rig.url, ...env } });
      return { ...result, seen: [...rig.seen], reports: readDirectory(`${cwd}/reports`) };
    })
  );
}

function atRig(files: Readonly<Record<string, string>>, { url }: Rig): Record<string, string> {
  return Object.fromEntries(
    Object.entries(files).map(([name, text]) => [name, text.replaceAll("{url}", url)]),
  );
}

/** The texts of all files in a directory; empty if it does not exist. */
export function readDirectory(directory: string): Record<string, string> {
  const texts: Record<string, string> = {};
  try {
    for (const { name, isFile } of Deno.readDirSync(directory)) {
      if (isFile) texts[name] = Deno.readTextFileSync(`${directory}/${name}`);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return texts;
}
