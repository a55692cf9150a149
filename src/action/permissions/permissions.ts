/**
 * The permissions of the actions of a run. A kind that is absent is not restricted; if there are any
 * permissions at all, code that nothing here could bind (commands and plugins) has to be among
 * `run`.
 */
export interface Permissions {
  readonly net?: readonly HostRule[];
  /** Where a server may listen; nowhere if it is absent and `net` is not. */
  readonly listen?: readonly HostRule[];
  readonly run?: readonly ProgramRule[] | "any";
  readonly read?: readonly PathRule[];
  readonly write?: readonly PathRule[];
  /** No `shell` step runs, whatever `run` says. */
  readonly noShell?: true;
}

/** A host that may be reached, or all hosts below a name. */
export interface HostRule {
  /** The form used in URLs: in lower case and ASCII, IPv6 addresses in brackets. */
  readonly host: string;
  readonly below: boolean;
  /** Every port where it is absent. */
  readonly port?: string;
}

/** A program that may be run. */
export interface ProgramRule {
  /** The text as the user wrote it. */
  readonly text: string;
  /** Where it was found; absent where it was not. */
  readonly path?: string;
}

/** A file, or a directory with everything in it. */
export interface PathRule {
  /** Absolute, and without links. */
  readonly path: string;
}
