import type { Translate } from "./input.ts";

/** Something that workflows are made from: one file and one line in the registry. */
export interface Importer {
  /** The word after `--from`. */
  readonly name: string;
  readonly summary: string;
  /** The form of the input: the words of a command, a file, or a directory. */
  readonly input: "command" | "file" | "directory";
  readonly load: () => Promise<Translate>;
}

/** Everything that a workflow can be made from. */
export const IMPORTERS: readonly Importer[] = [
  {
    name: "curl",
    summary: "a curl command",
    input: "command",
    load: async () => (await import("./curl.ts")).translateCurl,
  },
  {
    name: "har",
    summary: "requests that a browser has recorded",
    input: "file",
    load: async () => (await import("./har.ts")).translateHar,
  },
  {
    name: "postman",
    summary: "a collection of Postman",
    input: "file",
    load: async () => (await import("./postman.ts")).translatePostman,
  },
  {
    name: "hurl",
    summary: "a Hurl file",
    input: "file",
    load: async () => (await import("./hurl.ts")).translateHurl,
  },
  {
    name: "http",
    summary: "a .http or .rest file of an editor",
    input: "file",
    load: async () => (await import("./http_file.ts")).translateHttpFile,
  },
  {
    name: "stepci",
    summary: "a workflow of Step CI",
    input: "file",
    load: async () => (await import("./stepci.ts")).translateStepCi,
  },
  {
    name: "bruno",
    summary: "a collection of Bruno",
    input: "directory",
    load: async () => (await import("./bruno.ts")).translateBruno,
  },
];
