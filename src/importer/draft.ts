import type { Dict, Value } from "../base/value/value.ts";

/** A workflow that is being made from something else. Its texts are templates. */
export interface Draft {
  readonly name: string;
  readonly vars: Dict;
  readonly jobs: readonly DraftJob[];
  /** Whether each job waits for the one before it. */
  readonly isSequence?: true;
  /** The parts of the whole file that could not be translated, with reasons. */
  readonly notes: readonly string[];
}

/** A job of the workflow. */
export interface DraftJob {
  readonly name: string;
  readonly steps: readonly DraftStep[];
  /** Other keys of the job. */
  readonly keys?: Dict;
  readonly notes?: readonly string[];
}

/** A step of a job. */
export interface DraftStep {
  readonly data: Readonly<Record<string, Value>>;
  /** The parts of this step that could not be translated, with reasons. */
  readonly notes: readonly string[];
}

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
