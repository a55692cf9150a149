import { FILE_FORMATS } from "../../src/report/files/registry.ts";
import { OUTPUT_FORMS } from "../../src/cli/output_mode.ts";
import { code, makePage, type Page, plain, table } from "./page.ts";

/** The forms of the report. */
export function makeReportsPage(): Page {
  return makePage("reports.md", "src/cli/output_mode.ts and src/report/files/registry.ts", [
    "# Report formats",
    "",
    "Every format of report, on the terminal and in files; [Reports](../concepts/reports.md)",
    "explains how to use them.",
    "",
    "## On the terminal",
    "",
    "`--output <name>`, or `auto`, which selects one of them:",
    "",
    ...table(
      ["Name", "What it does"],
      OUTPUT_FORMS.map(({ name, summary }) => [code(name), plain(summary)]),
    ),
    "",
    "## In files",
    "",
    "`--report <name>=<path>`; `--report-dir` uses the file names of the table.",
    "",
    ...table(
      ["Name", "File", "What it is", "Written"],
      FILE_FORMATS.map(({ name, file, summary, kind }) => [
        code(name),
        file === undefined ? "" : code(file),
        plain(summary),
        kind === "stream" ? "during the run" : "when the run ends",
      ]),
    ),
  ]);
}
