import type { EncodedHistogram } from "../base/value/histogram.ts";
import type { AssertionCount, Operand, StepTree, TimeStats } from "./step_result.ts";

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

/** What a load job did in a second. All that is known of it is the sum of these. */
export interface LoadSecondFields {
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
  /** The rounds that ended, from when they were due, or began where users run them. */
  readonly rounds: LoadCounts;
  /** The steps that ended, from when they began, without their `wait`; none that did not run. */
  readonly steps: readonly LoadStepCounts[];
  /** Rounds that were cut short. */
  readonly skipped?: number;
  /** The causes of failures of steps. */
  readonly failures?: readonly LoadFailures[];
}

/** Rounds or runs of a step. */
export interface LoadCounts {
  /** The number that did not fail. */
  readonly passed: number;
  /** The number that failed. */
  readonly failed: number;
  /** Their times. */
  readonly times?: EncodedHistogram;
}

/** The runs of a step. */
export interface LoadStepCounts extends LoadCounts, LoadTraffic {
  /** Position among the steps of the job, from 0. */
  readonly step: number;
  /** The number that were skipped. */
  readonly skipped?: number;
  /** The number of failed ones that the job tolerates. */
  readonly tolerated?: number;
  /** The number of those that passed which no test looked at. */
  readonly untested?: number;
  /** The number that passed only after a failed attempt. */
  readonly flaky?: number;
  /** The number of assertions by outcome. */
  readonly assertions?: AssertionCount;
  /** The first run that did not fail, in its second; a skipped one only until there is another. */
  readonly first?: StepTree;
}

/** What a step sent and received. */
export interface LoadTraffic {
  /** Bytes that were received. */
  readonly bytesIn?: number;
  /** Bytes that were sent. */
  readonly bytesOut?: number;
  /** The number of requests that were sent again after the server had closed the connection. */
  readonly resent?: number;
  /** The number of responses by class: `2xx`. */
  readonly codes?: Readonly<Record<string, number>>;
  /** The phases of the response time, together: milliseconds by name. */
  readonly phases?: Readonly<Record<string, number>>;
}

/** Failures of a step that have the same cause. */
export interface LoadFailures {
  /** The place in the file and the first line of the message, with each number as 0. */
  readonly cause: string;
  /** Their number. */
  readonly count: number;
  /** Milliseconds since 1970. */
  readonly first: number;
  /** Milliseconds since 1970. */
  readonly last: number;
  /** The first of them, in the second in which it came up. */
  readonly example?: StepTree;
}

/** What a load job came to; it comes before the end of the job. */
export interface LoadEndedFields {
  /** The id of the job. */
  readonly job: string;
  /** The statistics of the rounds and of each step. */
  readonly stats: LoadStats;
  /** The conditions of `expect`, in order. */
  readonly thresholds: readonly LoadThreshold[];
  /** The causes of failures, the most frequent first. */
  readonly causes: readonly LoadFailures[];
  /** The number of failures of further causes. */
  readonly otherFailures?: number;
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

/** Numbers of rounds or of the runs of a step; times in milliseconds, 0 where there is none. */
export interface LoadNumbers extends TimeStats {
  /** The number that ended. */
  readonly count: number;
  /** The number that did not fail. */
  readonly passed: number;
  /** The number that failed. */
  readonly failed: number;
  /** How many ended in a second. */
  readonly rate: number;
  /** The time that 999 of 1000 did not exceed. */
  readonly p999: number;
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
  /** In the order of the file, without those that never ran. */
  readonly steps: readonly LoadStepStats[];
}

/** The statistics of a step; its phases are means. */
export interface LoadStepStats extends LoadNumbers, LoadTraffic {
  /** Position among the steps of the job, from 0. */
  readonly step: number;
  /** What expressions know it by: its id, else its name. */
  readonly key: string;
}
