import { FILE_FORMATS } from "../report/files/registry.ts";
import { OUTPUT_FORMS, OUTPUT_MODES } from "./args/output_mode.ts";
import type { Command, Option } from "./command.ts";

const FORMATS = OUTPUT_FORMS.map(({ name, summary }) => `${name} ${summary}`).join(", ");

const FILES = FILE_FORMATS.map(({ name }) => name).join(", ");

/** The command that runs if the first word does not name one. */
export const DEFAULT_COMMAND: Command = {
  summary: "Run a workflow",
  operands: [{
    name: "workflow_file",
    repeats: true,
    path: "documents",
    summary: "A workflow file, or several joined by commas that are read as one; several " +
      "arguments, a directory, a pattern in quotes or a suite file run all their workflows",
  }],
  options: [
    {
      group: "Run",
      name: "fail-fast",
      summary: "Start no new job or step after the first failure",
    },
    {
      group: "Run",
      name: "strict",
      summary: "Fail on warnings, on unsuccessful steps without a test, and if no step runs",
    },
    {
      group: "Run",
      name: "no-check",
      summary: "Also run what `runner check` proves to fail",
    },
    {
      group: "Run",
      name: "jobs",
      value: "count",
      summary: "How many jobs may run at once (default: all that can)",
    },
    {
      group: "Run",
      name: "watch",
      summary: "Watch the files, and run what a change affects, until Ctrl-C",
    },
    {
      group: "Run",
      name: "dry-run",
      summary: "Print what would run, and with which values, and run nothing",
    },
    {
      group: "Run",
      name: "openapi",
      value: "file",
      path: "file",
      summary: "Validate http requests and responses against this OpenAPI description",
    },
    {
      group: "Run",
      name: "min-coverage",
      value: "percent",
      summary: "Fail if fewer operations of the OpenAPI descriptions are called",
    },
    {
      group: "Run",
      name: "snapshot",
      value: "mode",
      choices: ["check", "write"],
      summary: "What to do if a snapshot is missing: fail, as with CI=true, or write it (default)",
    },
    {
      group: "Run",
      name: "update-snapshots",
      value: "all",
      isValueOptional: true,
      summary: "Rewrite the snapshots of the steps that run; =all also removes unused ones",
    },
    {
      group: "Run",
      name: "seed",
      value: "text",
      summary: "Repeat the values of random functions; a run that fails prints its seed",
    },
    {
      group: "Run",
      name: "cleanup-timeout",
      value: "duration",
      summary: "How long cleanup (`finally`) may take after an interruption or RUNNER_TIMEOUT " +
        "(default: 30s)",
    },
    {
      group: "Run",
      name: "cacert",
      value: "file",
      path: "file",
      summary: "Trust the certificate authorities of this PEM file instead of those of the system",
    },
    {
      group: "Run",
      name: "cert",
      value: "file",
      path: "file",
      summary: "Present the client certificate of this PEM file to TLS servers",
    },
    {
      group: "Run",
      name: "key",
      value: "file",
      path: "file",
      summary: "With --cert: the key of the client certificate, if it is in another file",
    },
    {
      group: "Run",
      name: "insecure",
      summary: "Accept any TLS certificate in steps that do not verify it explicitly",
    },
    {
      group: "Select",
      name: "only",
      value: "job",
      repeats: true,
      summary: 'Run this job and what it needs: its id, its name, or a pattern like "deploy*"',
    },
    {
      group: "Select",
      name: "tags",
      value: "expression",
      summary: "Run the jobs with these tags and what they need: 'smoke and not slow'",
    },
    {
      group: "Select",
      name: "skip",
      value: "job",
      repeats: true,
      summary: "Skip this job, as if its skipif were true",
    },
    {
      group: "Select",
      name: "no-needs",
      summary: "With --only: leave out what the chosen jobs need",
    },
    {
      group: "Select",
      name: "rerun-failed",
      summary: "Run what failed in the last run in this directory, with the jobs needed",
    },
    {
      group: "Select",
      name: "list",
      summary: "Print the jobs and steps with their ids, and run nothing",
    },
    {
      group: "Values",
      name: "var",
      value: "name=value",
      repeats: true,
      summary: "Set a var of the workflow, or a part of one (db.host=x); " +
        "numbers, true and false are read as in YAML, and name:=json as JSON; " +
        "the workflow must define the var",
    },
    {
      group: "Values",
      name: "var-file",
      value: "file",
      path: "file",
      repeats: true,
      summary: "Set vars from a YAML or JSON file; --var wins over it",
    },
    {
      group: "Values",
      name: "env-file",
      value: "file",
      path: "file",
      repeats: true,
      summary: "Read environment variables for vars from a file of NAME=value lines; the real " +
        "environment wins over it",
    },
    {
      group: "Output",
      name: "verbose",
      short: "v",
      summary: "Print each request and response, rendered values and timing to stderr",
    },
    {
      group: "Output",
      name: "timing",
      summary: "Show when each step started, how long it took, and what took the time",
    },
    {
      group: "Output",
      name: "quiet",
      short: "q",
      summary: "Print failures and the last line only",
    },
    {
      group: "Output",
      name: "output",
      value: "mode",
      choices: OUTPUT_MODES,
      summary:
        `How to print the report: ${FORMATS}, auto (the default) picks spinner on a terminal`,
    },
    {
      group: "Reports",
      name: "report",
      value: "format=path",
      repeats: true,
      summary: `Also write a report: ${FILES}; "-" is standard output and replaces the text`,
    },
    {
      group: "Reports",
      name: "report-dir",
      value: "directory",
      path: "directory",
      summary: "Write a report in every format except github into a directory",
    },
    {
      group: "Reports",
      name: "history",
      value: "directory",
      path: "directory",
      summary:
        "Keep the results of each run in a directory, and show the last 50 in the HTML report",
    },
    {
      group: "Reports",
      name: "no-github",
      summary: "Print no annotations and write no summary, although GITHUB_ACTIONS is set",
    },
    {
      group: "Permissions",
      name: "allow-net",
      value: "hosts",
      repeats: true,
      summary: "Allow connections only to these hosts, separated by commas: example.com, " +
        "example.com:8443, *.example.com, [::1]:80",
    },
    {
      group: "Permissions",
      name: "allow-run",
      value: "programs",
      repeats: true,
      summary: "Allow only these shells, browsers and plugins (runner-name); with any other " +
        "--allow option, steps that need one must name it here",
    },
    {
      group: "Permissions",
      name: "allow-read",
      value: "paths",
      path: "file",
      repeats: true,
      summary: "Allow steps to read only these files, and what is in these directories",
    },
    {
      group: "Permissions",
      name: "allow-write",
      value: "paths",
      path: "file",
      repeats: true,
      summary: "Allow steps to write only these files, and what is in these directories",
    },
    {
      group: "Permissions",
      name: "no-shell",
      summary: "Run no shell step, and no plugin that --allow-run does not name",
    },
    {
      group: "Several workflows",
      name: "workers",
      value: "count",
      summary: "How many workflows may run at once (default: one for each processor, at most 4)",
    },
    {
      group: "Several workflows",
      name: "shuffle",
      value: "seed",
      isValueOptional: true,
      summary: "Run the workflows in a random order; --shuffle=seed repeats the order of that seed",
    },
    {
      group: "Several workflows",
      name: "shard",
      value: "index/count",
      summary: "Run one share of the workflows: 2/5 on the second of five machines",
    },
    {
      group: "Several workflows",
      name: "shard-times",
      value: "report",
      path: "file",
      summary: "Balance the shares by the times in an earlier report of json=FILE",
    },
    {
      group: "Several machines",
      name: "run",
      value: "file",
      path: "file",
      summary: "Run as one process of a run that runner prepare made: the jobs of --only, or the " +
        "workflows of a suite by --only or --shard",
    },
    {
      group: "Several machines",
      name: "inputs",
      value: "path",
      path: "file",
      repeats: true,
      summary: "With --run: outputs files of earlier processes, or a directory that contains them",
    },
    {
      group: "Several machines",
      name: "outputs",
      value: "file",
      path: "file",
      summary: "With --run: write the outputs of the jobs to a file, for later processes",
    },
    {
      group: "Several machines",
      name: "rounds",
      value: "index/count",
      summary: "With --run: run one share of the rounds of a repeated job, such as 2/8",
    },
    {
      group: "Several machines",
      name: "start-at",
      value: "time",
      summary: "With --run: start at this time: 2026-01-31T08:00:00Z, or @ and Unix seconds",
    },
    {
      group: "Several machines",
      name: "finally",
      summary: "With --run: run the `finally` of the workflow, after all other processes",
    },
    {
      group: "Several machines",
      name: "setup",
      summary: "With --run of a suite: run its setup; the others read its --outputs",
    },
    {
      group: "Several machines",
      name: "teardown",
      summary: "With --run of a suite: run its teardown, after all workflows",
    },
  ],
  examples: [
    ["runner shop.yml", "Run a workflow"],
    ["runner --only order --var limit=6 shop.yml", "Run a job and what it needs"],
    ["runner --report html=report.html flows", "Run a directory, write a report"],
    ["runner --dry-run shop.yml", "Print what would run"],
  ],
  success: "every job completed and every test passed",
  load: async () => (await import("./commands/run_command.ts")).runCommand,
};

/** Options of running a workflow that another command has, too. */
export function runOptions(...names: readonly string[]): readonly Option[] {
  return names.map((name) => DEFAULT_COMMAND.options.find((option) => option.name === name)!);
}
