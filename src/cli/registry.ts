import { ACTIONS } from "../actions/registry.ts";
import type { ImporterName } from "../importer/registry.ts";
import type { Command, CommandTable, Option } from "./command.ts";
import type { EngineName } from "../spread/engines/registry.ts";
import { DEFAULT_COMMAND, PERMISSIONS, runOptions } from "./default_command.ts";

/** Options that every command has. */
export const COMMON_OPTIONS: readonly Option[] = [
  {
    group: "Other",
    name: "help",
    short: "h",
    summary: "Print this help and exit; runner -h prints what is used most",
  },
  { group: "Other", name: "version", summary: "Print the version and exit" },
  { group: "Output", name: "no-color", summary: "Print without colours" },
];

/** The names of what other modules load: a missing one is a type error. */
const IMPORTERS = Object.keys(
  { curl: 0, har: 0, postman: 0, hurl: 0, http: 0, bruno: 0 } satisfies Record<ImporterName, 0>,
);
const ENGINES = Object.keys({ github: 0, gitlab: 0, argo: 0 } satisfies Record<EngineName, 0>);

/** For commands with `--out`. */
const FORCE: Option = {
  name: "force",
  summary: "Overwrite that file if it exists",
  requires: ["out", "give a file to write: --out FILE"],
};

const COMMANDS_BUT_HELP: readonly Command[] = [
  {
    name: "new",
    common: true,
    summary: "Make a first workflow, or translate curl or files of another tool",
    operands: [{
      name: "input",
      repeats: true,
      isOptional: true,
      path: "file",
      summary:
        "A URL to test; or a file or directory of another tool, curl commands in quotes or " +
        "after --, a script of them, or - for standard input",
    }],
    options: [
      {
        name: "from",
        value: "format",
        choices: IMPORTERS,
        summary: "The format, if it is not recognized by name or content; see: runner help migrate",
      },
      {
        name: "out",
        short: "o",
        value: "file",
        path: "file",
        summary: "Write the workflow to a new file instead of standard output",
      },
    ],
    load: async () => (await import("./commands/new_command.ts")).newCommand,
  },
  {
    name: "check",
    common: true,
    summary: "Find mistakes in workflows, and run nothing",
    operands: [{
      name: "workflow_file",
      repeats: true,
      path: "documents",
      summary: "A workflow file, several joined by commas, a job file, a directory, or a pattern " +
        "like 'flows/**/*.yml'",
    }],
    options: [
      { name: "strict", summary: "Treat warnings as errors" },
      {
        name: "format",
        value: "form",
        choices: ["text", "json", "github"],
        summary: "How to print the findings: text (the default), json, or github for annotations",
      },
    ],
    success: "no errors were found",
    load: async () => (await import("./commands/check_command.ts")).checkCommand,
  },
  {
    name: "gen",
    common: true,
    summary: "Make a workflow from an OpenAPI description",
    operands: [{
      name: "openapi_file",
      path: "documents",
      summary: "A description in YAML or JSON: OpenAPI 3.1, 3.0 or 2.0",
    }, {
      name: "workflow_file",
      isOptional: true,
      path: "documents",
      summary: "A workflow of this description: make only the operations that it lacks, and list " +
        "the requests that the description no longer has",
    }],
    options: [
      {
        name: "out",
        short: "o",
        value: "file",
        path: "file",
        summary: "Write the workflow to a new file instead of standard output",
      },
      FORCE,
    ],
    load: async () => (await import("./commands/gen_command.ts")).genCommand,
  },
  {
    name: "dag",
    summary: "Draw the graph of the jobs of workflows, and run nothing",
    operands: [{
      name: "workflow_file",
      repeats: true,
      path: "documents",
      summary: "A workflow file, several joined by commas that are read as one, a directory, a " +
        "pattern in quotes, or a suite file",
    }],
    options: [
      {
        name: "mermaid",
        summary: "Print a Mermaid flowchart instead of a drawing",
        excludes: ["json"],
      },
      { name: "json", summary: "Print the jobs with their needs, conditions and steps as JSON" },
      {
        name: "width",
        value: "columns",
        summary: "How wide a drawing may be (default: the width of the terminal; in a pipe " +
          "COLUMNS, or no limit)",
      },
    ],
    load: async () => (await import("./commands/dag_command.ts")).dagCommand,
  },
  {
    name: "fmt",
    summary: "Format workflow files in place; comments stay",
    operands: [{
      name: "file",
      repeats: true,
      path: "documents",
      summary: "A YAML file, several joined by commas, a pattern like 'flows/**/*.yml', a " +
        "directory for the workflows, job files and suites below it, or - to format standard " +
        "input to standard output",
    }],
    options: [
      { name: "check", summary: "Write nothing, and exit with 1 if a file is not formatted" },
    ],
    success: "all files are formatted",
    load: async () => (await import("./commands/fmt_command.ts")).fmtCommand,
  },
  {
    name: "actions",
    common: true,
    summary: "List what steps can do, or explain an action",
    operands: [{
      name: "action",
      isOptional: true,
      choices: ACTIONS.map(({ name }) => name),
      summary: "The action to explain",
    }],
    options: [],
    load: async () => (await import("./commands/actions_command.ts")).actionsCommand,
  },
  {
    name: "completions",
    summary: "Print a script for shell completion",
    operands: [{
      name: "shell",
      choices: ["bash", "zsh", "fish", "powershell", "nushell"],
      summary: "bash, zsh, fish, powershell or nushell",
    }],
    options: [],
    load: async () => (await import("./completions/complete.ts")).completionsCommand,
  },
  {
    name: "schema",
    summary: "Print a JSON Schema of workflow files, for editors",
    operands: [],
    options: [
      { name: "job", summary: "Print the schema of job files, which steps embed" },
      { name: "suite", summary: "Print the schema of suite files, which list workflows" },
    ],
    load: async () => (await import("./commands/schema_command.ts")).schemaCommand,
  },
  {
    name: "lsp",
    summary: "Start the language server, for editors; it runs no workflow",
    operands: [],
    options: [
      {
        name: "stdio",
        summary: "Use standard input and output, as it always does; editors pass this option",
      },
    ],
    async load() {
      const { serveEditor } = await import("../lsp/server.ts");
      return async (_, { host }) => {
        await serveEditor(host);
        return 0;
      };
    },
  },
  {
    name: "mcp",
    summary: "Start the Model Context Protocol server, for assistants that write and run workflows",
    operands: [],
    options: PERMISSIONS,
    load: async () => (await import("./mcp/mcp_command.ts")).mcpCommand(COMMAND_TABLE),
  },
  {
    name: "prepare",
    group: "Several machines",
    summary: "Prepare a run on several machines: evaluate vars and select jobs",
    operands: [{
      name: "workflow_file",
      repeats: true,
      path: "documents",
      summary: "A workflow file, several joined by commas that are read as one, or a suite: " +
        "several arguments, a directory, a pattern in quotes or a suite file",
    }],
    options: [
      {
        name: "out",
        short: "o",
        value: "file",
        path: "file",
        summary: "Write the run file here; all processes of the run read it with --run",
      },
      { name: "id", value: "text", summary: "The id of the run (default: a random one)" },
      {
        name: "start-in",
        of: "workflow",
        value: "duration",
        summary: "Start all shares of a split job together, after this time",
      },
      ...runOptions(
        "var",
        "var-file",
        "env-file",
        "secret-command",
        "only",
        "skip",
        "tags",
        "no-check",
      ),
    ],
    load: async () => (await import("./run/prepare_command.ts")).prepareCommand,
  },
  {
    name: "export",
    group: "Several machines",
    summary:
      "Write a file for GitHub Actions, GitLab CI or Argo that runs jobs on several machines",
    operands: [
      {
        name: "engine",
        choices: ENGINES,
        summary: ENGINES.join(", "),
      },
      {
        name: "workflow_file",
        path: "documents",
        summary: "A workflow file, several joined by commas that are read as one, or a suite: a " +
          "directory, a pattern in quotes or a suite file",
      },
    ],
    options: [
      {
        name: "out",
        short: "o",
        value: "file",
        path: "file",
        summary: "Write to a file instead of standard output",
      },
      FORCE,
      {
        name: "split",
        of: "workflow",
        value: "job=count",
        repeats: true,
        summary: "Spread the rounds of a repeated job over 2 to 256 tasks",
      },
      {
        name: "group",
        of: "workflow",
        value: "kind",
        choices: ["chains", "none"],
        summary: "Let a job and the only job it needs share a task: chains (the default) or none",
      },
      {
        name: "shards",
        of: "suite",
        value: "count",
        summary: "For a suite: how many tasks share its workflows (default: one for each)",
      },
      { name: "image", value: "image", summary: "The container image for GitLab and Argo" },
      {
        name: "secret",
        value: "name",
        repeats: true,
        summary: "Pass this secret of the engine to the tasks, as an environment variable",
      },
      ...runOptions("no-check"),
    ],
    load: async () => (await import("./commands/export_command.ts")).exportCommand,
  },
  {
    name: "report",
    group: "Several machines",
    summary: "Merge the events of several processes into one report and one exit code",
    operands: [
      { name: "merge", choices: ["merge"], summary: "The only action" },
      {
        name: "path",
        repeats: true,
        path: "file",
        summary: "Files of --report ndjson=FILE, or directories that contain them at any depth; " +
          "with them the run file, if runner prepare made one",
      },
    ],
    options: runOptions(
      "report",
      "report-dir",
      "history",
      "quiet",
      "timing",
      "output",
      "no-github",
    ),
    success: "nothing is missing and everything passed",
    load: async () => (await import("./run/report_command.ts")).reportCommand,
  },
];

/** Commands by their first word. */
export const COMMANDS: readonly Command[] = [
  ...COMMANDS_BUT_HELP,
  {
    name: "help",
    common: true,
    summary: "Explain a command, option, action, function, key or topic",
    operands: [{
      name: "word",
      offers: "topics",
      repeats: true,
      isOptional: true,
      summary: "What to explain; without it, runner help lists the pages of the documents",
    }],
    options: [],
    load: async () => (await import("./help/help_command.ts")).helpCommand(COMMAND_TABLE),
  },
];

export const COMMAND_TABLE: CommandTable = {
  fallback: DEFAULT_COMMAND,
  commands: COMMANDS,
  common: COMMON_OPTIONS,
};
