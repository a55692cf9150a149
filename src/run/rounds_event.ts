import type { EncodedHistogram, HistogramSummary } from "../base/value/histogram.ts";
import type {
  AssertionCount,
  JobState,
  Operand,
  SnapshotOutcome,
  StepState,
  StepTree,
} from "./step_result.ts";

/** What rounds of a job did: in all of its time, or in a second. */
export interface RoundTally<Failures = FailureTally> {
  /** The number of rounds that ended, by outcome; those that were cut short are skipped. */
  readonly rounds: Readonly<Record<JobState, number>>;
  /** The times of those that passed or failed, from when they were due. */
  readonly times?: EncodedHistogram;
  /** Each step that ended, and each entry of an `iteration`, in the order of the file. */
  readonly steps: readonly StepTally<Failures>[];
}

/** The results of a step, or of an entry of its `iteration`, in several rounds. */
export interface StepTally<Failures = FailureTally> extends StepTraffic {
  /** Position among the steps of the job, from 0. */
  readonly step: number;
  /** Position in the step's `iteration`, from 0; absent in a load job, which counts all together. */
  readonly entry?: number;
  /** The text shown in reports; `…` replaces what differs between rounds. */
  readonly name: string;
  /** The number of its runs by outcome. */
  readonly states: Readonly<Record<StepState, number>>;
  /** The times of those that were not skipped, from their beginning, without their `wait`. */
  readonly times?: EncodedHistogram;
  /** The action sends no request. */
  readonly instant?: true;
  /** The number of runs that were good only after a failed attempt. */
  readonly flaky: number;
  /** The run that took longest, unless all were skipped. */
  readonly slowest?: {
    /** `repeat_index`. */
    readonly round: number;
    /** The text shown in reports. */
    readonly name: string;
    /** Milliseconds. */
    readonly duration: number;
  };
  /** Why it was skipped first. */
  readonly reason?: string;
  /** The number of assertions by outcome, if any were evaluated. */
  readonly assertions?: AssertionCount;
  /** The number of snapshots by outcome, if there were any. */
  readonly snapshots?: { readonly [K in SnapshotOutcome["state"]]?: number };
  /** The first run that did not fail; a skipped one only if there is no other. */
  readonly first?: StepTree;
  /** Its first kinds of failures. */
  readonly failures: readonly Failures[];
  /** The number of failures of other kinds. */
  readonly otherFailures: number;
  /** Its first distinct echoes, but in a load job. */
  readonly echoes: readonly EchoTally[];
  /** The number of other echoes. */
  readonly otherEchoes: number;
  /** The steps of the job that it embeds. */
  readonly inside: readonly StepTally<Failures>[];
}

/** What a step sent and received. */
export interface StepTraffic {
  /** Bytes that were received. */
  readonly bytesIn?: number;
  /** Bytes that were sent. */
  readonly bytesOut?: number;
  /** The number of requests that were sent again after the server had closed the connection. */
  readonly resent?: number;
  /** The number of responses by class and by code: `2xx`, `200`. */
  readonly codes?: Readonly<Record<string, number>>;
  /** The phases of the response time, together: milliseconds by name. */
  readonly phases?: Readonly<Record<string, number>>;
}

/** Failures that are alike: they say the same about the same place, whatever the values were. */
export interface FailureCount {
  /** The places in the file and the first lines of the messages, with each number as 0. */
  readonly cause: string;
  /** `allowed` where the job allows them. */
  readonly state: StepState;
  /** Their number. */
  readonly count: number;
  /** The time of the first: milliseconds since 1970. */
  readonly from: number;
  /** The time of the last: milliseconds since 1970. */
  readonly to: number;
  /** The `repeat_index` of the first. */
  readonly round: number;
  /** The first of them; of a load job only in the second in which it came up. */
  readonly first?: StepTree;
}

/** The same in all rounds of a job. */
export interface FailureTally extends FailureCount {
  /** The first of them. */
  readonly first: StepTree;
}

/** Echoes that are the same. */
export interface EchoTally {
  /** The echo. */
  readonly text: string;
  /** The `repeat_index` of the first. */
  readonly round: number;
  /** Their number. */
  readonly count: number;
}

/** What a load job is to do. */
export interface LoadOutline {
  /** In order, without the warm-up. */
  readonly stages: readonly LoadStageOutline[];
  /** Milliseconds of rounds before the stages, which count for nothing. */
  readonly warmUp?: number;
  /** The number of rounds after which it ends. */
  readonly count?: number;
  /** The number of rounds that may be under way, where they start at a rate. */
  readonly maxInFlight?: number;
  /** The pause of a user between two rounds, as written in the file. */
  readonly thinkTime?: string;
  /** The thresholds, as written in the file. */
  readonly expect?: readonly string[];
  /** The condition that ends it early, as written in the file. */
  readonly stopIf?: string;
  /** What its statistics know each step by, in the order of the steps. */
  readonly steps: readonly string[];
}

/** A stage of a load job: it has a rate or users. */
export interface LoadStageOutline {
  /** Rounds a second. */
  readonly rate?: number;
  /** The number of users, each of whom runs round after round. */
  readonly users?: number;
  /** Whether it goes there linearly from the stage before. */
  readonly ramp?: true;
  /** Milliseconds; absent where the number of rounds ends it. */
  readonly duration?: number;
}

/** What a load job did in a second. The job as a whole is the sum of these. */
export interface LoadSecondFields extends RoundTally<FailureCount> {
  /** The id of the job. */
  readonly job: string;
  /** Milliseconds from the start of the job to that of this second. */
  readonly from: number;
  /** Milliseconds: 1000, but less where the warm-up, the last stage or the job ends in it. */
  readonly length: number;
  /** `warm_up`: it counts for nothing. `ending`: nothing starts, rounds under way end. */
  readonly phase?: "warm_up" | "ending";
  /** The index of the stage. */
  readonly stage: number;
  /** Rounds a second that should start, on average; absent where users run them. */
  readonly asked?: number;
  /** The number of users at its end. */
  readonly users?: number;
  /** The number of rounds that began. */
  readonly started: number;
  /** The number of rounds that did not begin since too many were under way. */
  readonly dropped?: number;
  /** The number of rounds that began more than 10 ms after they were due. */
  readonly late?: number;
  /** The longest time from when a round was due to when it began: milliseconds. */
  readonly lateMax?: number;
  /** The most rounds that were under way in it. */
  readonly inFlight: number;
  /** The part of a processor that this process used, from 0 to 1. */
  readonly busy?: number;
  /** The users whose `setup` ended, where there is one. */
  readonly setup?: SetupCount;
}

/** The number of users by the outcome of their `setup`. */
export interface SetupCount {
  /** Those who run rounds. */
  readonly passed: number;
  /** Those who do not. */
  readonly failed: number;
}

/** The results of a load job; emitted before the end of the job. */
export interface LoadEndedFields {
  /** The id of the job. */
  readonly job: string;
  /** The statistics of the rounds and of each step. */
  readonly stats: LoadStats;
  /** The conditions of `expect`, in order. */
  readonly thresholds: readonly LoadThreshold[];
  /** Why it ended early. */
  readonly stopped?: string;
}

/** A condition of the statistics. */
export interface LoadThreshold {
  /** As written in the file. */
  readonly expression: string;
  /** What it asserts, where the file says it. */
  readonly says?: string;
  /** Whether it is true. */
  readonly passed: boolean;
  /** The parts that decided it, with their values: times in seconds. */
  readonly operands: readonly Pick<Operand, "text" | "value">[];
  /** Why it could not be evaluated. */
  readonly problem?: string;
}

/** Numbers of rounds or of the runs of a step; times in milliseconds, 0 without any. */
export interface LoadNumbers extends HistogramSummary {
  /** The number that did not fail. */
  readonly passed: number;
  /** The number that failed. */
  readonly failed: number;
  /** How many ended in a second. */
  readonly rate: number;
}

/** The statistics of a load job: those of its rounds, and of each step. */
export interface LoadStats extends LoadNumbers {
  /** The measured time in milliseconds: without the warm-up. */
  readonly elapsed: number;
  /** Rounds a second that should have started, on average; absent where users run them. */
  readonly asked?: number;
  /** The number of rounds that began. */
  readonly started: number;
  /** The number of rounds that did not begin since too many were under way. */
  readonly dropped: number;
  /** The number of rounds that were cut short, as the run was interrupted. */
  readonly unfinished?: number;
  /** The number of rounds that began more than 10 ms after they were due. */
  readonly late: number;
  /** The longest time from when a round was due to when it began. */
  readonly lateMax: number;
  /** The part of a processor that the busiest process used in its busiest second, from 0 to 1. */
  readonly busy: number;
  /** The most users there were, where users run the rounds. */
  readonly users?: number;
  /** The most rounds that were under way. */
  readonly inFlight: number;
  /** Bytes that were received, where steps say so. */
  readonly bytesIn?: number;
  /** Bytes that were sent, where steps say so. */
  readonly bytesOut?: number;
  /** The number of requests that were sent again after the server had closed the connection. */
  readonly resent?: number;
  /** The users by the outcome of their `setup`, where there is one. */
  readonly setup?: SetupCount;
  /** In the order of the file, without those that never ran. */
  readonly steps: readonly LoadStepStats[];
}

/** The statistics of a step; its phases are means. */
export interface LoadStepStats extends LoadNumbers, StepTraffic {
  /** Position among the steps of the job, from 0. */
  readonly step: number;
  /** What expressions know it by: its id, else its name. */
  readonly key: string;
}
