import type { Source } from "../base/source.ts";
import { LoadError } from "../base/errors.ts";
import type { Positions } from "../base/yaml/document.ts";
import { findPositions } from "../base/yaml/read_yaml.ts";
import type { Draft } from "../openapi/gen/draft.ts";
import { type ImportInput, StructureError, type Translate } from "./input.ts";

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

/** A position in a longer text takes too much memory to find. */
const MAX_LOCATED_TEXT = 32_000_000;

/** Makes a workflow of an input. Throws LoadError with the position of a mistake. */
export async function translateInput({ load }: Importer, input: ImportInput): Promise<Draft> {
  try {
    return await (await load())(input);
  } catch (error) {
    const isLocated = error instanceof StructureError && error.file.text.length <= MAX_LOCATED_TEXT;
    if (!isLocated) throw error;
    // Some JSON is not YAML, such as what nests too deeply: then the file is named alone.
    const positions = positionsIn(error.file);
    throw positions ? error.at(positions.locate(error.path)) : error;
  }
}

function positionsIn(file: Source): Positions | undefined {
  try {
    return findPositions([file]);
  } catch (error) {
    if (!(error instanceof LoadError)) throw error;
    return undefined;
  }
}
