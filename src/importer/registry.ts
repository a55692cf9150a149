import type { Translate } from "./input.ts";

/** The words after `--from`. */
export type ImporterName = "curl" | "har" | "postman" | "hurl" | "http" | "bruno";

/** Something that workflows are made from: one file and one line in the registry. */
export interface Importer {
  readonly name: ImporterName;
  /** The form of the input: the words of a command, a file, or a directory. */
  readonly input: "command" | "file" | "directory";
  readonly load: () => Promise<Translate>;
}

/** Everything that a workflow can be made from. */
export const IMPORTERS: readonly Importer[] = [
  {
    name: "curl",
    input: "command",
    load: async () => (await import("./curl.ts")).translateCurl,
  },
  {
    name: "har",
    input: "file",
    load: async () => (await import("./har.ts")).translateHar,
  },
  {
    name: "postman",
    input: "file",
    load: async () => (await import("./postman.ts")).translatePostman,
  },
  {
    name: "hurl",
    input: "file",
    load: async () => (await import("./hurl.ts")).translateHurl,
  },
  {
    name: "http",
    input: "file",
    load: async () => (await import("./http_file.ts")).translateHttpFile,
  },
  {
    name: "bruno",
    input: "directory",
    load: async () => (await import("./bruno.ts")).translateBruno,
  },
];
