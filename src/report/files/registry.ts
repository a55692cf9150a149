import type { Host } from "../../host/host.ts";
import type { History } from "./history.ts";
import type { openOtlp } from "../otlp/open_otlp.ts";
import type { Change, RunRecord, SuiteRecord } from "../record.ts";

/** A form of the report for machines, or for people elsewhere: it is written to a file. */
export type FileFormat =
  & {
    readonly name: FileFormatName;
    /** One line, for help and documents. */
    readonly summary: string;
    /** Its name in the directory of `--report-dir`; one without is printed after the text. */
    readonly file?: string;
    /** Whether `--report-dir` leaves it out. */
    readonly isOnlyByName?: true;
    /** Whether it shows details of steps that did not fail. */
    readonly detailed?: true;
    /** Whether it has every step of every round of repeated jobs, not only their tally. */
    readonly takesRounds?: true;
  }
  & (
    /** Written as a whole when everything is over. */
    | { readonly kind: "document"; readonly load: () => Promise<RenderRecords> }
    /** Grows while the run goes on. */
    | { readonly kind: "stream"; readonly load: (host: Host) => Promise<RenderChange> }
  );

/** The name used by `--report` and by programs that use the library. */
export type FileFormatName =
  | "junit"
  | "tap"
  | "json"
  | "ndjson"
  | "ctrf"
  | "markdown"
  | "html"
  | "coverage"
  | "prometheus"
  | "github";

/** The document about these runs, piece by piece so that it need not be in memory as a whole. */
export type RenderRecords = (
  records: readonly RunRecord[],
  suite?: SuiteRecord,
  history?: History,
) => Iterable<string>;

/** Renders the text that an event adds, which is often empty. */
export type RenderChange = (change: Change) => string;

/** Every form of the report that can be written to a file, in the order of the help. */
export const FILE_FORMATS: readonly FileFormat[] = [
  {
    name: "junit",
    summary: "JUnit XML, which nearly every CI system reads",
    file: "junit.xml",
    detailed: true,
    kind: "document",
    load: async () => (await import("./junit.ts")).renderJunit,
  },
  {
    name: "tap",
    summary: "TAP version 14",
    file: "report.tap",
    kind: "document",
    load: async () => (await import("./tap.ts")).renderTap,
  },
  {
    name: "json",
    summary: "everything about the run, as one document",
    file: "report.json",
    detailed: true,
    kind: "document",
    load: async () => (await import("./json.ts")).renderJson,
  },
  {
    name: "ndjson",
    summary: "every event of the run, one JSON object a line, as it happens",
    file: "events.ndjson",
    detailed: true,
    takesRounds: true,
    kind: "stream",
    load: async () => (await import("./ndjson.ts")).makeNdjsonReport(),
  },
  {
    name: "ctrf",
    summary: "Common Test Report Format",
    file: "ctrf.json",
    detailed: true,
    kind: "document",
    load: async () => (await import("./ctrf.ts")).renderCtrf,
  },
  {
    name: "markdown",
    summary: "for a comment on a pull request or the page of a build",
    file: "summary.md",
    kind: "document",
    load: async () => (await import("./markdown.ts")).renderMarkdown,
  },
  {
    name: "html",
    summary: "one page for a browser: waterfall, graph, every request and response",
    file: "report.html",
    detailed: true,
    kind: "document",
    load: async () => await (await import("./html/render_html.ts")).makeHtmlReport(),
  },
  {
    name: "coverage",
    summary: "the coverage of OpenAPI descriptions, as JSON",
    file: "coverage.json",
    isOnlyByName: true,
    kind: "document",
    load: async () => (await import("./json.ts")).renderCoverage,
  },
  {
    name: "prometheus",
    summary: "metrics for the textfile collector of Prometheus",
    file: "metrics.prom",
    isOnlyByName: true,
    kind: "document",
    load: async () => {
      const { renderPrometheus } = await import("./prometheus.ts");
      return (records, suite) => renderPrometheus(records, suite);
    },
  },
  {
    name: "github",
    summary: "annotations and a summary on the page of a GitHub Actions build",
    kind: "stream",
    load: async (host) => (await import("./github.ts")).makeGithubReport(host),
  },
];

/** The summary that `github` adds to the page of a build. */
export const GITHUB_SUMMARY: FileFormat = {
  name: "github",
  summary: "a summary on the page of a GitHub Actions build",
  kind: "document",
  load: async () => (await import("./markdown.ts")).renderGithubSummary,
};

/** A form of the report that is sent to a server while the run goes on. */
export interface ExportFormat extends Pick<FileFormat, "summary" | "detailed" | "takesRounds"> {
  readonly name: "otlp";
  readonly kind: "export";
  readonly load: () => Promise<typeof openOtlp>;
}

/** Spans, and histograms of load jobs, for a collector of OpenTelemetry. */
export const OTLP: ExportFormat = {
  name: "otlp",
  summary: "spans, and histograms of load jobs, for a collector of OpenTelemetry",
  detailed: true,
  takesRounds: true,
  kind: "export",
  load: async () => (await import("../otlp/open_otlp.ts")).openOtlp,
};

/** Everything that `--report` can name. */
export const REPORT_FORMATS = [...FILE_FORMATS, OTLP];
