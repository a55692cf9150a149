import type { Option } from "./command.ts";
import { group, randomSeed, readCount, readShard } from "./option_values.ts";

/** Options of runs of several workflows. */
export const SEVERAL_WORKFLOWS: readonly Option[] = group("Several workflows", [
  {
    name: "workers",
    value: "count",
    summary: "How many workflows may run at once (default: one for each processor, at most 4)",
    sets: (value) => ({
      workers: readCount(
        value,
        "workers",
        "without it there is one for each processor, at most 4",
      ),
    }),
  },
  {
    name: "shuffle",
    value: "seed",
    isValueOptional: true,
    summary: "Run the workflows in a random order; --shuffle=seed repeats the order of that seed",
    excludes: ["run"],
    sets: (value) => ({ shuffle: value || randomSeed() }),
  },
  {
    name: "shard",
    value: "index/count",
    summary: "Run one shard of the workflows: 2/5 on the second of five machines",
    of: "suite",
    sets: (value) => ({ shard: readShard(value) }),
  },
  {
    name: "shard-times",
    value: "report",
    path: "file",
    summary: "Balance the shards by the times in an earlier report of json=FILE",
    of: "suite",
    excludes: ["run"],
  },
]);

const OF_PIECE: Option["requires"] = [
  "run",
  "it is for one process of a run that runner prepare has made",
];

/** Options of a process that is one of several of a run. */
export const SEVERAL_MACHINES: readonly Option[] = group("Several machines", [
  {
    name: "run",
    value: "file",
    path: "file",
    summary: "Run as one process of a run that runner prepare made: the jobs of --only, or the " +
      "workflows of a suite by --only or --shard",
  },
  {
    name: "inputs",
    value: "path",
    path: "file",
    repeats: true,
    summary: "With --run: outputs files of earlier processes, or a directory that contains them",
    requires: OF_PIECE,
  },
  {
    name: "outputs",
    value: "file",
    path: "file",
    summary: "With --run: write the outputs of the jobs to a file, for later processes",
    requires: OF_PIECE,
  },
  {
    name: "rounds",
    value: "index/count",
    summary: "With --run: run one share of the rounds of a repeated job, such as 2/8",
    of: "workflow",
    requires: OF_PIECE,
  },
  {
    name: "start-at",
    value: "time",
    summary: "With --run: start at this time: 2026-01-31T08:00:00Z, or @ and Unix seconds",
    of: "workflow",
    requires: OF_PIECE,
  },
  {
    name: "finally",
    summary: "With --run: run the `finally` of the workflow, after all other processes",
    of: "workflow",
    requires: OF_PIECE,
  },
  {
    name: "setup",
    summary: "With --run of a suite: run its setup; the others read its --outputs",
    of: "suite",
    requires: OF_PIECE,
  },
  {
    name: "teardown",
    summary: "With --run of a suite: run its teardown, after all workflows",
    of: "suite",
    requires: OF_PIECE,
  },
]);
