import { REPORT_FORMATS } from "../report/files/registry.ts";
import type { Command, Option } from "./command.ts";
import {
  group,
  PREPARED,
  randomSeed,
  readCleanupTimeout,
  readCount,
  readLoad,
  readPercentage,
  readProcesses,
  readShard,
  readUpdate,
} from "./option_values.ts";
import { OUTPUT_FORMS, OUTPUT_MODES } from "./output_mode.ts";

const FORMATS = OUTPUT_FORMS.map(({ name, summary }) => `${name} ${summary}`).join(", ");

const FILES = REPORT_FORMATS.map(({ name }) => name).join(", ");

const VALUES: readonly Option[] = group("Values", [
  {
    name: "var",
    common: "Set a var of the workflow",
    value: "name=value",
    offers: "vars",
    repeats: true,
    summary: "Set a var of the workflow, or a part of one (db.host=x); " +
      "numbers, true and false are read as in YAML, and name:=json as JSON; " +
      "the workflow must define the var",
    excludes: PREPARED,
  },
  {
    name: "var-file",
    value: "file",
    path: "file",
    repeats: true,
    summary: "Set vars from a YAML or JSON file; --var takes precedence",
    excludes: PREPARED,
  },
  {
    name: "env-file",
    value: "file",
    path: "file",
    repeats: true,
    summary: "Read environment variables for vars from a file of NAME=value lines; the real " +
      "environment takes precedence",
    excludes: PREPARED,
  },
  {
    name: "secret-command",
    value: "command",
    summary: "Read secret variables that the environment lacks from a command, such as " +
      "'op read op://ci/{name}'",
    excludes: PREPARED,
  },
]);

const SELECT: readonly Option[] = group("Select", [
  {
    name: "only",
    common: "Run this job and what it needs",
    value: "job",
    offers: "jobs",
    repeats: true,
    summary: 'Run this job and what it needs: its id, its name, or a pattern like "deploy*"',
    sets: (_, only) => ({ only }),
  },
  {
    name: "tags",
    value: "expression",
    offers: "tags",
    summary: "Run the jobs with these tags and what they need: 'smoke and not slow'",
    excludes: PREPARED,
    sets: (tags) => ({ tags }),
  },
  {
    name: "skip",
    value: "job",
    offers: "jobs",
    repeats: true,
    summary: "Skip this job, as if its skipif were true",
    excludes: PREPARED,
    sets: (_, skip) => ({ skip }),
  },
  {
    name: "no-needs",
    summary: "With --only: leave out what the chosen jobs need",
    requires: ["only", "name the jobs that are to run"],
    excludes: PREPARED,
    sets: () => ({ noNeeds: true }),
  },
  {
    name: "rerun-failed",
    common: "Run what failed in the last run",
    summary: "Run what failed in the last run of each file, with the jobs needed",
    excludes: PREPARED,
  },
  {
    name: "list",
    common: "Print the jobs and steps, and run nothing",
    summary: "Print the jobs and steps with their ids, and run nothing",
    excludes: ["dry-run", ...PREPARED],
  },
]);

const RUN: readonly Option[] = group("Run", [
  {
    name: "watch",
    common: "Run again when the files change",
    summary: "Watch the files, and run what a change affects, until Ctrl-C",
    excludes: ["list", "dry-run", "run"],
  },
  {
    name: "dry-run",
    common: "Print what would run, and with which values",
    summary: "Print what would run, and with which values, and run nothing",
    excludes: ["run"],
  },
  {
    name: "fail-fast",
    summary: "Start no new job or step after the first failure",
    sets: () => ({ failFast: true }),
  },
  {
    name: "strict",
    summary: "Fail on warnings, and if no step runs",
    sets: () => ({ strict: true }),
  },
  {
    name: "jobs",
    value: "count",
    summary: "How many jobs may run at once (default: all that can)",
    sets: (value) => ({
      jobs: readCount(value, "jobs", "without it all jobs run that can"),
    }),
  },
  {
    name: "load",
    value: "time",
    summary: "Scale the stages of load jobs down to this time, or run each such job once: off",
    sets: (value) => ({ load: readLoad(value) }),
  },
  {
    name: "processes",
    value: "count",
    summary: "Spread the rounds of load jobs over several processes (default: 1); " +
      "auto: one fewer than there are processors",
    excludes: ["run"],
    sets: (value) => ({ processes: readProcesses(value) }),
  },
  {
    name: "pause-on-failure",
    summary: "After a failed step, ask on the terminal: evaluate expressions, run it again, go on",
    excludes: ["watch", "quiet", "run"],
  },
  {
    name: "every",
    value: "duration",
    summary: "Run again and again, this long after the start of the last run, until a signal; " +
      "print a line for each run, and the report if it failed or changed",
    excludes: ["watch", "list", "dry-run", "pause-on-failure", "run"],
  },
  {
    name: "serve",
    value: "address",
    summary: "Serve a page about these runs, /metrics for Prometheus, /report and /health: at a " +
      "port of 127.0.0.1 (8080), or at a host (0.0.0.0:8080)",
    requires: ["every", "run again and again, for example with --every 1m"],
  },
  {
    name: "state",
    value: "file",
    path: "file",
    summary:
      "Remember the last run in a file: steps see it as run.previous, and how many runs in " +
      "a row ended alike as run.streak",
    excludes: ["run"],
  },
  {
    name: "trace",
    summary: "Send a header traceparent with each request, and show the ids of traces",
    sets: () => ({ trace: {} }),
  },
  { name: "no-check", summary: "Run even if `runner check` proves that the workflow fails" },
  {
    name: "seed",
    value: "text",
    summary: "Repeat the values of random functions; a run that fails prints its seed",
    sets: (seed) => ({ seed }),
  },
  {
    name: "cleanup-timeout",
    value: "duration",
    summary: "How long cleanup (`finally`) may take after an interruption or RUNNER_TIMEOUT " +
      "(default: 30s)",
    sets: (value) => ({ cleanupTimeout: readCleanupTimeout(value) }),
  },
]);

const OUTPUT: readonly Option[] = group("Output", [
  {
    name: "verbose",
    common: "Print each request and response",
    short: "v",
    summary: "Print each request and response, rendered values and timing to stderr",
  },
  {
    name: "quiet",
    common: "Print failures and the summary only",
    short: "q",
    summary: "Print failures and the summary only",
    excludes: ["verbose"],
  },
  {
    name: "timing",
    summary: "Show when each step started, how long it took, and what took the time",
  },
  {
    name: "output",
    value: "mode",
    choices: OUTPUT_MODES,
    summary: `How to print the report: ${FORMATS}, auto (the default) picks spinner on a terminal`,
  },
]);

const REPORTS: readonly Option[] = group("Reports", [
  {
    name: "report",
    common: "Also write a report, such as html=report.html",
    value: "format=path",
    offers: REPORT_FORMATS.map(({ name }) => `${name}=`),
    repeats: true,
    summary:
      `Also write a report: ${FILES}; "-" is standard output and replaces the text, and otlp takes a URL`,
  },
  {
    name: "report-dir",
    value: "directory",
    path: "directory",
    summary:
      "Write a report in every format except coverage, prometheus, github and otlp into a directory",
  },
  {
    name: "history",
    value: "directory",
    path: "directory",
    summary: "Keep the results of each run in a directory, and show the last 50 in the HTML report",
  },
  {
    name: "no-github",
    summary: "Print no annotations and write no summary, although GITHUB_ACTIONS is set",
  },
]);

const CONTRACTS: readonly Option[] = group("Snapshots and contracts", [
  {
    name: "snapshot",
    value: "mode",
    choices: ["check", "write"],
    summary: "What to do if a snapshot is missing: fail, as with CI=true, or write it (default)",
    excludes: ["update-snapshots"],
    sets: (value) => ({ snapshots: value === "check" ? "check" : "write" }),
  },
  {
    name: "update-snapshots",
    value: "all",
    isValueOptional: true,
    summary: "Rewrite the snapshots of the steps that run; =all also removes unused ones",
    sets: (value) => ({ snapshots: readUpdate(value) }),
  },
  {
    name: "openapi",
    value: "file",
    path: "file",
    summary: "Validate http requests and responses against this OpenAPI description",
  },
  {
    name: "min-coverage",
    value: "percent",
    summary: "Fail if fewer operations of the OpenAPI descriptions are called",
    sets: (value) => ({ minCoverage: readPercentage(value) }),
  },
]);

export const PERMISSIONS: readonly Option[] = group("Permissions", [
  {
    name: "allow-net",
    value: "hosts",
    repeats: true,
    summary: "Allow connections only to these hosts, separated by commas: example.com, " +
      "example.com:8443, *.example.com, [::1]:80",
  },
  {
    name: "allow-listen",
    value: "addresses",
    repeats: true,
    summary:
      "Allow servers of listen only at these addresses, such as 127.0.0.1 or 0.0.0.0:9000; " +
      "with --allow-net, they need one",
  },
  {
    name: "allow-run",
    value: "programs",
    repeats: true,
    summary: "Allow only these shells, browsers and plugins (runner-name); with any other " +
      "--allow option, steps that need one must name it here",
  },
  {
    name: "allow-read",
    value: "paths",
    path: "file",
    repeats: true,
    summary: "Allow steps to read only these files, and what is in these directories",
  },
  {
    name: "allow-write",
    value: "paths",
    path: "file",
    repeats: true,
    summary: "Allow steps to write only these files, and what is in these directories",
  },
  { name: "no-shell", summary: "Run no shell step, and no plugin that --allow-run does not name" },
]);

const TLS: readonly Option[] = group("TLS", [
  {
    name: "cacert",
    value: "file",
    path: "file",
    summary: "Trust the certificate authorities of this PEM file instead of those of the system",
  },
  {
    name: "cert",
    value: "file",
    path: "file",
    summary: "Present the client certificate of this PEM file to TLS servers",
  },
  {
    name: "key",
    value: "file",
    path: "file",
    summary: "With --cert: the key of the client certificate, if it is in another file",
  },
  {
    name: "insecure",
    summary: "Accept any TLS certificate in steps that do not verify it explicitly",
  },
]);

const SEVERAL_WORKFLOWS: readonly Option[] = group("Several workflows", [
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
const SEVERAL_MACHINES: readonly Option[] = group("Several machines", [
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

/** The command that runs if the first word does not name one. */
export const DEFAULT_COMMAND: Command = {
  summary: "Run a workflow",
  operands: [{
    name: "workflow_file",
    repeats: true,
    path: "documents",
    summary: "A workflow file, or several joined by commas that are read as one; several " +
      "arguments, a directory, a pattern in quotes or a suite file run all their workflows; files " +
      "after a suite file select some of its workflows, and file.yml:42 selects the job at line 42",
  }],
  options: [
    ...VALUES,
    ...SELECT,
    ...RUN,
    ...OUTPUT,
    ...REPORTS,
    ...CONTRACTS,
    ...SEVERAL_WORKFLOWS,
    ...PERMISSIONS,
    ...TLS,
    ...SEVERAL_MACHINES,
  ],
  examples: [
    ["runner shop.yml", "Run a workflow"],
    ["runner --only order --var limit=6 shop.yml", "Run a job and what it needs"],
    ["runner --report html=report.html flows", "Run a directory, write a report"],
    ["runner --dry-run shop.yml", "Print what would run"],
  ],
  success: "every job completed and every test passed",
  load: async () => (await import("./run/run_command.ts")).runCommand,
};

/** Options of running a workflow that another command has, too. */
export function runOptions(...names: readonly string[]): readonly Option[] {
  return names.map((name) => DEFAULT_COMMAND.options.find((option) => option.name === name)!);
}
