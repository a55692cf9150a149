/** What proves a row of docs/migrate/probe.md: a run and what comes of it, or a test elsewhere. */
export interface Claim {
  /** A whole workflow; it passes if nothing else is said. */
  readonly flow?: string;
  /** The steps of a workflow with one job. */
  readonly steps?: string;
  /** Further files, by name. */
  readonly files?: Readonly<Record<string, string>>;
  /** The arguments; "flow.yml" without. */
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The exit code; 0 without. */
  readonly code?: 0 | 1;
  /** What the program prints. */
  readonly shows?: readonly string[];
  /** What it does not print. */
  readonly hides?: readonly string[];
  /** A path that it prints, of a file that is not there when it is over. */
  readonly gone?: RegExp;
  /** The servers that it needs besides the one for HTTP. */
  readonly needs?: "ssh" | "grpc";
  /** The file and the title of a test that proves it, where it takes more than a run. */
  readonly provenBy?: readonly [file: string, title: string];
}

/** Claims by the first cell of their rows. */
export type Claims = Readonly<Record<string, Claim | readonly Claim[]>>;
