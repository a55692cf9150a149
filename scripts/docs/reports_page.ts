import { FILE_FORMATS } from "../../src/report/files/registry.ts";
import { OUTPUT_FORMS } from "../../src/cli/args/output_mode.ts";
import { code, makePage, type Page, plain, table } from "./page.ts";

/** The forms of the report. */
export function makeReportsPage(): Page {
  return makePage("reports.md", "src/cli/args/output_mode.ts and src/report/files/registry.ts", [
    "# Report formats",
    "",
    "[Reports](../reports.md) explains how they are asked for.",
    "",
    "## On the terminal",
    "",
    "`--output <name>`, or `auto`, which picks one of them:",
    "",
    ...table(
      ["Name", "What it does"],
      OUTPUT_FORMS.map(({ name, summary }) => [code(name), plain(summary)]),
    ),
    "",
    "## In files",
    "",
    "`--report <name>=<path>`; the file is its name in the folder of `--report-dir`.",
    "",
    ...table(
      ["Name", "File", "What it is", "Written"],
      FILE_FORMATS.map(({ name, file, summary, kind }) => [
        code(name),
        file === undefined ? "" : code(file),
        plain(summary),
        kind === "stream" ? "while the run goes on" : "when the run is over",
      ]),
    ),
  ]);
}
