import type { Draft } from "../openapi/gen/draft.ts";

/** Something that workflows are made from: one file and one line in the registry. */
export interface Importer {
  /** The word after `--from`. */
  readonly name: string;
  readonly summary: string;
  /** The form of the input: the words of a command, a file, or a directory. */
  readonly input: "command" | "file" | "directory";
  readonly load: () => Promise<Translate>;
}

/** Makes a workflow; throws `LoadError` with the place of what is wrong. */
export type Translate = (input: ImportInput) => Promise<Draft> | Draft;

/** The input of an importer, by its kind. */
export interface ImportInput {
  /** The words of a command. */
  readonly words: readonly string[];
  /** The files: one, or those of a directory by their paths in it. */
  readonly files: readonly ImportFile[];
  /** Parses YAML; throws `LoadError` with the place of what is wrong. */
  readonly parseYaml: (file: ImportFile) => Promise<unknown>;
}

/** A line of a file. */
export interface Line {
  readonly text: string;
  readonly offset: number;
}

/** A file to import. */
export interface ImportFile {
  /** The path that the user gave; for a directory, the path in it. */
  readonly name: string;
  readonly text: string;
}
