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
      summary: "Begin no new job and no new step after the first failure",
    },
    {
      group: "Run",
      name: "strict",
      summary: "Fail on warnings, on unsuccessful steps without a test, and if no step runs",
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
      summary: "Run again what is affected whenever a file of the workflows changes, until Ctrl-C",
    },
    {
      group: "Run",
      name: "dry-run",
      summary: "Print what would run, and with what, and run nothing",
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
      summary: "Fail if fewer operations of the OpenAPI descriptions were called",
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
      summary:
        "Rewrite the snapshots of the steps that run; =all also removes those that no step " +
        "names",
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
      summary: "How long the steps of `finally` may take after an interruption or RUNNER_TIMEOUT " +
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
        "numbers, true and the like are read as in YAML, and name:=json as JSON; " +
        "a name that the workflow does not have is an error",
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
      summary: "Let vars see the NAME=value lines of a file; the real environment wins over it",
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
      summary: "Show the start time and response time of each step, and what took the time",
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
      summary: "Write a report of every format but github into a directory",
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
      summary: "No annotations and no summary where GITHUB_ACTIONS is set",
    },
    {
      group: "Permissions",
      name: "allow-net",
      value: "hosts",
      repeats: true,
      summary: "Let http steps reach nothing but these hosts, separated by commas: example.com, " +
        "example.com:8443, *.example.com, [::1]:80",
    },
    {
      group: "Permissions",
      name: "allow-run",
      value: "programs",
      repeats: true,
      summary: "Let shell steps start nothing but these shells, and use no plugin but these " +
        "(runner-name); they are needed with any of the other --allow options",
    },
    {
      group: "Permissions",
      name: "allow-read",
      value: "paths",
      path: "file",
      repeats: true,
      summary: "Let steps read nothing but these files and everything in these directories",
    },
    {
      group: "Permissions",
      name: "allow-write",
      value: "paths",
      path: "file",
      repeats: true,
      summary: "Let steps write nothing but these files and everything in these directories",
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
      summary: "Run the workflows in a random order; a seed given by --shuffle=seed repeats one",
    },
    {
      group: "Several workflows",
      name: "shard",
      value: "index/count",
      summary: "Run one share of the workflows, such as 2/5 on the second of five machines",
    },
    {
      group: "Several workflows",
      name: "shard-times",
      value: "report",
      path: "file",
      summary: "Make shares that take the same time, by an earlier report of json=FILE",
    },
    {
      group: "Several machines",
      name: "run",
      value: "file",
      path: "file",
      summary: "Run the jobs of --only, of a suite its workflows of --only or --shard, as one " +
        "process of a run that runner prepare has made",
    },
    {
      group: "Several machines",
      name: "inputs",
      value: "path",
      path: "file",
      repeats: true,
      summary: "With --run: the outputs of the processes before, or a directory that has them",
    },
    {
      group: "Several machines",
      name: "outputs",
      value: "file",
      path: "file",
      summary: "With --run: write what the jobs publish, for the processes after this one",
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
      summary: "With --run: begin at this time, as 2026-01-31T08:00:00Z or @ and Unix seconds",
    },
    {
      group: "Several machines",
      name: "finally",
      summary: "With --run: run the steps of the workflow's `finally`, once all else is over",
    },
    {
      group: "Several machines",
      name: "setup",
      summary: "With --run of a suite: run its setup, whose --outputs all others read",
    },
    {
      group: "Several machines",
      name: "teardown",
      summary: "With --run of a suite: run its teardown, once all workflows are over",
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
