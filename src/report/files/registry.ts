import type { FileFormat } from "./file_format.ts";

/** Every form of the report that can be written to a file, in the order of the help. */
export const FILE_FORMATS: readonly FileFormat[] = [
  {
    name: "ndjson",
    summary: "every event of the run, one JSON object a line, as it happens",
    file: "events.ndjson",
    kind: "stream",
    load: async () => (await import("./ndjson.ts")).renderNdjson,
  },
];
