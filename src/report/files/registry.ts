import type { FileFormat } from "./file_format.ts";

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
    load: async () => (await import("./document_json.ts")).renderDocumentJson,
  },
  {
    name: "ndjson",
    summary: "every event of the run, one JSON object a line, as it happens",
    file: "events.ndjson",
    detailed: true,
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
    load: async () => await (await import("./html.ts")).makeHtmlReport(),
  },
  {
    name: "coverage",
    summary: "the coverage of OpenAPI descriptions, as JSON",
    file: "coverage.json",
    isOnlyByName: true,
    kind: "document",
    load: async () => (await import("./coverage.ts")).renderCoverage,
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
