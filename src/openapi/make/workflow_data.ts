import type { Value } from "../../base/value/value.ts";

/** A workflow as data in the order in which it is written. */
export interface WorkflowData {
  readonly name: string;
  readonly vars: Readonly<Record<string, Value>>;
  readonly jobs: readonly JobData[];
  /** The environment variables that it reads. */
  readonly environment: readonly string[];
  /** The parts of the description that could not be converted. */
  readonly notes: readonly string[];
}

/** A job of a workflow file without its steps. */
export interface JobData {
  readonly head: Readonly<Record<string, Value>>;
  readonly steps: readonly StepData[];
}

/** A step of a workflow file. */
export type StepData = Readonly<Record<string, Value>>;
