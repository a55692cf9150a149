import type { OuterDefaults } from "../workflow/read_files.ts";
import type { Dict } from "../base/value/value.ts";
import type { DataTemplate } from "../expr/expression.ts";
import type { FoundReference, References } from "../expr/references.ts";
import type { Path } from "../base/source.ts";
import type { IdentifiedJob } from "../workflow/decode/decode_workflow.ts";
import type { ExpressionUse } from "../workflow/decode/expressions.ts";
import type { StepDraft } from "../workflow/decode/decode_step.ts";
import type { Document } from "../workflow/model.ts";
import type { RuleForm } from "../workflow/names.ts";
import type { Problem } from "../workflow/problem.ts";

/** One thing that static analysis looks for: a record in the list of checks. */
export interface Check {
  /** The codes that it reports, for the documentation. */
  readonly codes: readonly CheckCode[];
  readonly find: (model: CheckModel) => Iterable<Problem>;
}

/** A kind of finding, by its stable name. */
interface CheckCode {
  readonly code: string;
  readonly severity: Problem["severity"];
  readonly summary: string;
}

/** The code of an environment variable that is not set. */
export const UNSET = "unset-variable";

/** Facts about a file besides its text. */
export interface CheckContext {
  /** Names in `outputs` that the setup of a suite publishes. */
  readonly outputs?: ReadonlySet<string>;
  /** Vars that a suite adds. */
  readonly vars?: ReadonlySet<string>;
  /** Defaults that a suite gives to its workflows. */
  readonly defaults?: OuterDefaults;
  /** Vars that are an environment variable which is not set, by their paths: `db.password`. */
  readonly unset?: ReadonlyMap<string, string>;
  /** The jobs of the workflow that a run has; by default all. */
  readonly chosen?: ReadonlySet<string>;
}

/** What is refused in addition to workflows that must fail. */
export interface RefuseOptions extends CheckContext {
  /** What static analysis warns of. */
  readonly isStrict?: boolean;
  /**
   * Outputs of jobs that a job does not need, since a task is not given them. The variables of the
   * tasks are not known.
   */
  readonly isExport?: boolean;
}

/** A workflow as the checks see it: all that could be decoded, and what its expressions read. */
export interface CheckModel {
  readonly document: Document;
  /** The vars of the workflow; undefined in a job file, which is given its vars when it runs. */
  readonly vars: DataTemplate | undefined;
  readonly jobs: readonly CheckedJob[];
  readonly steps: readonly CheckedStep[];
  readonly stepsById: ReadonlyMap<string, readonly CheckedStep[]>;
  /** The steps that publish an output of that name. */
  readonly publishers: ReadonlyMap<string, readonly CheckedStep[]>;
  /** All its expressions and templates, each with the names that it sees. */
  readonly uses: readonly ExpressionUse[];
  readonly readings: readonly Reading[];
  /** Names that values may define which could not be read. */
  readonly definitions: ReadonlySet<string>;
  /**
   * Words in texts that were not read, in defaults that no step took, and in templates without
   * quotes: any may be a use of a name.
   */
  readonly usedWords: ReadonlySet<string>;
  readonly secrets: readonly LiteralSecret[];
  /** Files that steps send and that do not exist. */
  readonly missingFiles: readonly MissingFile[];
  readonly context: CheckContext;
  /** The job file that a step embeds; undefined if there is none or it cannot be read. */
  readonly embeddedBy: (step: StepDraft) => CheckModel | undefined;
}

/** A hard-coded secret in a document. */
export interface LiteralSecret {
  readonly path: Path;
  /** The secret itself, which nothing that is printed may show. */
  readonly text: string;
  /** Why it is taken for one, for messages. */
  readonly why: string;
  /** Its range in the text at the path; undefined for the whole text. */
  readonly range?: { readonly start: number; readonly end: number };
}

/** A file that a step sends or reads and that does not exist. */
export interface MissingFile {
  readonly path: Path;
  readonly name: string;
}

export interface CheckedJob {
  readonly draft: IdentifiedJob;
  readonly steps: readonly CheckedStep[];
  /** The jobs that it names in needs; undefined where that is not sure. */
  readonly needs: readonly CheckedJob[] | undefined;
  /** Whether the run has it: a job may not be chosen, a job file not be embedded in any case. */
  readonly isSure: boolean;
}

export interface CheckedStep {
  readonly draft: StepDraft;
  readonly job: CheckedJob;
  /** The step as it is written in the document. */
  readonly raw: Dict;
  /** The names of its outputs, right or wrong; undefined where they cannot be known. */
  readonly published: ReadonlySet<string> | undefined;
}

/** The names whose keys are known before a run, of `res` some. */
export type Root =
  | ("vars" | "outputs" | "res" | "needs")
  | ("rt" | "run" | "job" | "message" | "trace");

export interface Reading extends Pick<FoundReference, "keys" | "isOpen" | "outcomes"> {
  readonly root: Root;
  readonly path: Path;
  readonly job: CheckedJob;
  /** Undefined at the keys of a job. */
  readonly step: CheckedStep | undefined;
  /** The key of the job or the step: `with`, `retry`. */
  readonly key: string;
  /** The rule of the key, or of the one below it, that has the expression. */
  readonly form: RuleForm | undefined;
  /** Whether the step has published its outputs before. */
  readonly isAfterwards: boolean;
  /** Whether a run in which nothing else fails evaluates it. */
  readonly isSure: boolean;
  /** What the expression and the conditions around it say about values that may be nil. */
  readonly guards: readonly Pick<References, "tested" | "optional">[];
}
