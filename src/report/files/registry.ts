import type { FileFormat } from "./file_format.ts";

/** Every form of the report that can be written to a file, in the order of the help. */
export const FILE_FORMATS: readonly FileFormat[] = [
  {
    name: "junit",
    summary: "JUnit XML, which nearly every CI system reads",
    file: "junit.xml",
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
    summary: "everything that is known of the run, as one document",
    file: "report.json",
    kind: "document",
    load: async () => (await import("./document_json.ts")).renderJson,
  },
  {
    name: "ndjson",
    summary: "every event of the run, one JSON object a line, as it happens",
    file: "events.ndjson",
    kind: "stream",
    load: async () => (await import("./ndjson.ts")).renderNdjson,
  },
  {
    name: "ctrf",
    summary: "Common Test Report Format",
    file: "ctrf.json",
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
];
