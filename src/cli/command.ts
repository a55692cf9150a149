import type { Permissions } from "../action/permissions/permissions.ts";
import type { Host } from "../host/host.ts";
import type { JobChoice } from "../plan/select_jobs.ts";
import type { FailedIds, FailedJobs } from "../suite/failed_jobs.ts";
import type { RunEvent } from "../run/event.ts";
import type { SuiteRunOptions } from "../suite/run_suite.ts";
import type { State } from "../suite/state.ts";
import type { Shard, SuiteMember } from "../suite/suite.ts";

/** Something that the program does: a record in the registry. */
export interface Command {
  /** The first word on the command line; the command without one runs a workflow. */
  readonly name?: string;
  readonly group?: OptionGroup;
  readonly summary: string;
  /** It is in the short help, which lists the most common commands. */
  readonly common?: true;
  /** The operands, after the options: `<workflow_file>`. */
  readonly operands: readonly CommandOperand[];
  readonly options: readonly Option[];
  /** Command lines, and what they do. */
  readonly examples?: readonly (readonly [line: string, summary: string])[];
  /** The condition of exit code 0, for the help; by default success. */
  readonly success?: string;
  readonly load: () => Promise<RunCommand>;
}

export interface CommandOperand {
  readonly name: string;
  /** It may be given several times; only the last operand of a command may. */
  readonly repeats?: true;
  /** It may be left out; only the last operand of a command may. */
  readonly isOptional?: true;
  /** The only words that it can be. */
  readonly choices?: readonly string[];
  readonly offers?: Offers;
  readonly path?: PathKind;
  readonly summary: string;
}

/** What completion offers where other words are allowed, too: words, or what the program finds. */
export type Offers = readonly string[] | OfferedKind;

/** What the program finds in the files of a line, or in its pages. */
export type OfferedKind = "jobs" | "tags" | "vars" | "topics";

/** The kind of path: a YAML or JSON file (or several with commas), any file, a directory. */
export type PathKind = "documents" | "file" | "directory";

/** The titles under which help lists options, in this order. */
export const OPTION_GROUPS = [
  "Values",
  "Select",
  "Run",
  "Output",
  "Reports",
  "Snapshots and contracts",
  "Several workflows",
  "Permissions",
  "TLS",
  "Several machines",
  "Other",
] as const;

type OptionGroup = (typeof OPTION_GROUPS)[number];

/** An option of the command line. One with a `value` takes one, the others are switches. */
export interface Option {
  /** Without the dashes. */
  readonly name: string;
  readonly group?: OptionGroup;
  readonly short?: string;
  /** The name of the value: `mode`. */
  readonly value?: string;
  /** It is optional and given only by `=`: the next argument does not belong to it. */
  readonly isValueOptional?: true;
  /** The only values that are allowed. */
  readonly choices?: readonly string[];
  readonly offers?: Offers;
  readonly path?: PathKind;
  /** It may be given several times: its values are in `lists`. */
  readonly repeats?: true;
  readonly summary: string;
  /** Its summary in the short help, which lists the most common options. */
  readonly common?: string;
  /** Options that cannot be given beside it; with the hint, if that is not to leave one out. */
  readonly excludes?: readonly (string | readonly [option: string, hint: string])[];
  /** An option that must be given beside it, and the hint if it is not. */
  readonly requires?: readonly [option: string, hint: string];
  /** What it is for, if not for both. */
  readonly of?: RunKind;
  /** The setting of a run that it stands for, from its value or values. Throws UsageError. */
  readonly sets?: (value: string, values: readonly string[]) => RunSettings;
}

/** What a command line runs. */
export type RunKind = "workflow" | "suite";

/** The settings of a run that options stand for by themselves. */
export interface RunSettings
  extends Pick<JobChoice, "only" | "skip" | "tags" | "noNeeds">, Partial<SuiteRunOptions> {
  /** In how many processes load jobs run. */
  readonly processes?: number;
  readonly shard?: Shard;
  /** The seed of the order of workflows. */
  readonly shuffle?: string;
  /** The seed of random values. */
  readonly seed?: string;
  /** The percentage of the operations of APIs that must be called. */
  readonly minCoverage?: number;
}

/** The request of the user, after the whole command line was parsed. */
export interface Invocation {
  /** The words of the command line. */
  readonly args: readonly string[];
  readonly operands: readonly string[];
  readonly switches: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, string>;
  /** The values of options that may be given several times, in the order of the line. */
  readonly lists: ReadonlyMap<string, readonly string[]>;
  /** The settings that options stand for. */
  readonly settings: RunSettings;
  /** The records of the options on the line. */
  readonly options: readonly Option[];
}

/** The commands of the program, and the options that all of them have. */
export interface CommandTable {
  /** The command that runs if the first operand does not name one. */
  readonly fallback: Command;
  readonly commands: readonly Command[];
  readonly common: readonly Option[];
}

/** Carries a command out; the result is the exit code. */
export type RunCommand = (invocation: Invocation, program: Program) => Promise<ExitCode>;

export type ExitCode = 0 | 1;

/** The program around a command. */
export interface Program {
  readonly host: Host;
  /**
   * Inputs of a command besides the environment, by name: as there, the values of secret
   * names are shown nowhere. Commands add to it before they print anything that they read.
   */
  readonly secrets: Readonly<Record<string, unknown>>[];
  /** Ends the program at once. */
  readonly exit: (code: ExitCode) => void;
  /** Present if a command runs again what is affected when a file changes. */
  readonly watching?: Watching;
  /** Present if a command runs again and again. */
  readonly repeating?: {
    /** What runs remember, until the program ends. */
    readonly state?: State;
    /** Takes the events of the run. */
    readonly take: (event: RunEvent) => void;
    /** Whether it shows details of steps that did not fail. */
    readonly isDetailed?: boolean;
  };
  /** The permissions of runs, instead of those of their options. */
  readonly permissions?: Permissions;
}

/** Data of each run for a command that runs repeatedly. */
interface Watching {
  /** The host whose files are not watched. */
  readonly host: Host;
  /** The hosts by which the files of each workflow are known. */
  readonly files: {
    hostOf(workflow: string, isRunning?: boolean): Host;
    hostOfSearch(): Host;
  };
  /** The workflows that a change affects; all the first time. */
  readonly select: (members: readonly SuiteMember[]) => readonly SuiteMember[];
  /** The failed jobs that are to run again. */
  readonly failed?: FailedIds;
  /** Learns which jobs failed. */
  readonly noteFailed: (failed: FailedJobs) => void;
}

/** The host by which files are read that a command which watches does not wait for. */
export function unwatchedHost({ host, watching }: Program): Host {
  return watching?.host ?? host;
}
