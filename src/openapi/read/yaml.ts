import type { Path, Source, Span } from "../../source/source.ts";

/** YAML and JSON as the rest of the program reads and writes them. */
export interface Yaml {
  /** Reads a text as data. Throws LoadError with the place of what is wrong. */
  parse(source: Source): Promise<ParsedFile>;
  /** Data as a text; longer texts in it as blocks, nothing in it as a reference. */
  print(value: unknown): string;
}

/** A file as data. */
export interface ParsedFile {
  readonly value: unknown;
  /** Where a value stands; the nearest one around it where there is none of that path. */
  locate(path: Path): Promise<Span>;
}
