import { FILE_FORMATS } from "../report/files/registry.ts";
import type { Command, Option } from "./command.ts";
import { OUTPUT_FORMS, OUTPUT_MODES } from "./args/output_mode.ts";

/** Options that every command has. */
export const COMMON_OPTIONS: readonly Option[] = [
  { name: "help", short: "h", summary: "Print this help and exit" },
  { name: "version", summary: "Print the version and exit" },
  { name: "no-color", summary: "Print without colours" },
];

const FORMATS = OUTPUT_FORMS.map(({ name, summary }) => `${name} ${summary}`).join(", ");

const FILES = FILE_FORMATS.map(({ name }) => name).join(", ");

/** What runs when the first word is not the name of a command. */
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
      name: "verbose",
      short: "v",
      summary: "Print each request and response, rendered values and timing to stderr",
    },
    {
      name: "timing",
      summary: "Show the start time and response time of each step, and what took the time",
    },
    { name: "quiet", short: "q", summary: "Print failures and the last line only" },
    {
      name: "output",
      value: "mode",
      choices: OUTPUT_MODES,
      summary:
        `How to print the report: ${FORMATS}, auto (the default) picks spinner on a terminal`,
    },
    {
      name: "only",
      value: "job",
      repeats: true,
      summary: 'Run this job and what it needs: its id, its name, or a pattern like "deploy*"',
    },
    {
      name: "tags",
      value: "expression",
      summary: "Run the jobs with these tags and what they need: 'smoke and not slow'",
    },
    { name: "no-needs", summary: "With --only: leave out what the chosen jobs need" },
    {
      name: "skip",
      value: "job",
      repeats: true,
      summary: "Skip this job, as if its skipif were true",
    },
    {
      name: "var",
      value: "name=value",
      repeats: true,
      summary: "Set a var of the workflow, or a part of one (db.host=x); " +
        "numbers, true and the like are read as in YAML, and name:=json as JSON; " +
        "a name that the workflow does not have is an error",
    },
    {
      name: "var-file",
      value: "file",
      path: "file",
      repeats: true,
      summary: "Set vars from a YAML or JSON file; --var wins over it",
    },
    {
      name: "env-file",
      value: "file",
      path: "file",
      repeats: true,
      summary: "Let vars see the NAME=value lines of a file; the real environment wins over it",
    },
    { name: "fail-fast", summary: "Begin no new job and no new step after the first failure" },
    {
      name: "strict",
      summary: "Fail on warnings, on unsuccessful steps without a test, and if no step runs",
    },
    {
      name: "jobs",
      value: "count",
      summary: "How many jobs may run at once (default: all that can)",
    },
    {
      name: "cleanup-timeout",
      value: "duration",
      summary: "How long the steps of `finally` may take after an interruption or RUNNER_TIMEOUT " +
        "(default: 30s)",
    },
    {
      name: "workers",
      value: "count",
      summary: "How many workflows may run at once (default: one for each processor, at most 4)",
    },
    {
      name: "shuffle",
      value: "seed",
      isValueOptional: true,
      summary: "Run the workflows in a random order; a seed given by --shuffle=seed repeats one",
    },
    {
      name: "shard",
      value: "index/count",
      summary: "Run one share of the workflows, such as 2/5 on the second of five machines",
    },
    {
      name: "rerun-failed",
      summary: "Of several workflows, run what failed in the last run in this directory",
    },
    {
      name: "shard-times",
      value: "report",
      path: "file",
      summary: "Make shares that take the same time, by an earlier report of json=FILE",
    },
    { name: "list", summary: "Print the jobs and steps with their ids, and run nothing" },
    { name: "dry-run", summary: "Print what would run, and with what, and run nothing" },
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
    {
      name: "allow-net",
      value: "hosts",
      repeats: true,
      summary: "Let http steps reach nothing but these hosts, separated by commas: example.com, " +
        "example.com:8443, *.example.com, [::1]:80",
    },
    {
      name: "allow-run",
      value: "programs",
      repeats: true,
      summary: "Let shell steps start nothing but these shells, and use no plugin but these " +
        "(runner-name); they are needed with any of the other --allow options",
    },
    {
      name: "allow-read",
      value: "paths",
      path: "file",
      repeats: true,
      summary: "Let steps read nothing but these files and everything in these directories",
    },
    {
      name: "allow-write",
      value: "paths",
      path: "file",
      repeats: true,
      summary: "Let steps write nothing but these files and everything in these directories",
    },
    {
      name: "no-shell",
      summary: "Run no shell step, and no plugin that --allow-run does not name",
    },
    {
      name: "report",
      value: "format=path",
      repeats: true,
      summary: `Also write a report: ${FILES}; "-" is standard output and replaces the text`,
    },
    {
      name: "report-dir",
      value: "directory",
      path: "folder",
      summary: "Write a report of every format but github into a directory",
    },
    {
      name: "no-github",
      summary: "No annotations and no summary where GITHUB_ACTIONS is set",
    },
  ],
  success: "every job completed and every test passed",
  load: async () => (await import("./commands/run_command.ts")).runCommand,
};

const COMMANDS_BUT_HELP: readonly Command[] = [
  {
    name: "gen",
    summary: "Make a workflow from an OpenAPI description",
    operands: [{
      name: "openapi_file",
      path: "documents",
      summary: "A description in YAML or JSON: OpenAPI 3.1, 3.0 or 2.0",
    }],
    options: [
      {
        name: "out",
        short: "o",
        value: "file",
        path: "file",
        summary: "Write the workflow to a file instead of standard output",
      },
      { name: "force", summary: "Overwrite that file if it exists" },
    ],
    load: async () => (await import("./commands/gen_command.ts")).genCommand,
  },
  {
    name: "dag",
    summary: "Print the graph of a workflow's jobs, and run nothing",
    operands: [{
      name: "workflow_file",
      path: "documents",
      summary: "A workflow file, or several joined by commas that are read as one",
    }],
    options: [
      { name: "mermaid", summary: "Print a Mermaid flowchart instead of a drawing" },
      { name: "json", summary: "Print the jobs with their needs, levels and steps as JSON" },
      {
        name: "width",
        value: "columns",
        summary: "How wide a drawing may be: by default as the terminal, in a pipe as COLUMNS " +
          "says, or as wide as it comes out",
      },
    ],
    load: async () => (await import("./commands/dag_command.ts")).dagCommand,
  },
  {
    name: "check",
    summary: "Find mistakes in workflows, and run nothing",
    operands: [{
      name: "workflow_file",
      repeats: true,
      path: "documents",
      summary: "A workflow file, several joined by commas, a job file, or a pattern like " +
        "'flows/**/*.yml'",
    }],
    options: [
      { name: "strict", summary: "Treat warnings as errors" },
      {
        name: "format",
        value: "form",
        choices: ["text", "json", "github"],
        summary: "How to print what was found: text (the default), json, or github for annotations",
      },
    ],
    success: "no errors were found",
    load: async () => (await import("./commands/check_command.ts")).checkCommand,
  },
  {
    name: "report",
    summary: "Merge the events of several runs into one report and one exit code",
    operands: [
      { name: "merge", choices: ["merge"], summary: "What to do with them" },
      {
        name: "path",
        repeats: true,
        path: "file",
        summary: "Files of --report ndjson=FILE, or directories that have them at any depth",
      },
    ],
    options: ["report", "report-dir", "quiet", "timing", "output", "no-github"].map((name) =>
      DEFAULT_COMMAND.options.find((option) => option.name === name)!
    ),
    success: "all shards are there and every workflow passed",
    load: async () => (await import("./commands/report_command.ts")).reportCommand,
  },
  {
    name: "schema",
    summary: "Print a JSON Schema of workflow files, for editors",
    operands: [],
    options: [
      { name: "job", summary: "Print that of a job file, which a step embeds" },
      { name: "suite", summary: "Print that of a suite file, which lists workflows" },
    ],
    load: async () => (await import("./commands/schema_command.ts")).schemaCommand,
  },
  {
    name: "completions",
    summary: "Print a script with which a shell completes the command line",
    operands: [{
      name: "shell",
      choices: ["bash", "zsh", "fish", "powershell"],
      summary: "bash, zsh, fish or powershell",
    }],
    options: [],
    load: async () =>
      (await import("./commands/completions_command.ts")).completionsCommand({
        fallback: DEFAULT_COMMAND,
        commands: COMMANDS,
        common: COMMON_OPTIONS,
      }),
  },
];

/** Commands by their first word. */
export const COMMANDS: readonly Command[] = [
  ...COMMANDS_BUT_HELP,
  {
    name: "help",
    summary: "Print the usage of the program, or of a command",
    operands: [{
      name: "command",
      isOptional: true,
      choices: [...COMMANDS_BUT_HELP.flatMap(({ name }) => name ?? []), "help"],
      summary: "The command to explain",
    }],
    options: [],
    load: async () =>
      (await import("./commands/help_command.ts")).helpCommand({
        fallback: DEFAULT_COMMAND,
        commands: COMMANDS,
        common: COMMON_OPTIONS,
      }),
  },
];
