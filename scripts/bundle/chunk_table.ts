/**
 * The chunks of what starts, in that order: each has what these modules load, but for what one
 * before it has. Modules of libraries have the ends of their paths.
 */
export const STARTS: readonly (readonly [name: string, modules: readonly string[]])[] = [
  // Every command line, its help and the version.
  ["program", [
    ...["cli.ts", "src/cli/help/render_help.ts", "src/cli/version.ts"],
    ...["cli/parse_args.js", "fmt/colors.js"],
  ]],
  // What every run loads, and a check before it.
  ["start", [
    "src/cli/run/run_command.ts",
    "src/cli/run/run_reported.ts",
    "src/check/check_file.ts",
    "src/host/stuck_guard.ts",
    "src/actions/hello.ts",
    // What several other chunks share.
    ...["src/action/run_resources.ts", "src/expr/functions/diff.ts"],
    ...["src/run/execute/read_condition.ts"],
    ...["src/host/explain_denial.ts", "src/host/real_path.ts", "src/host/machine.ts"],
  ]],
];

/**
 * The other chunks of the program by subject: a module is in the first whose directories or files
 * it is in. Each is loaded as a whole, when the first of its modules is needed.
 */
export const CHUNKS: readonly (readonly [name: string, paths: readonly string[]])[] = [
  ["http", ["src/actions/http"]],
  ["browser", ["src/actions/browser"]],
  ["databases", ["src/actions/db", "src/actions/redis"]],
  ["brokers", [
    "src/actions/kafka",
    "src/actions/amqp",
    "src/actions/mqtt",
    "src/actions/nats",
    "src/actions/broker",
  ]],
  ["mail", ["src/actions/imap", "src/actions/smtp", "src/actions/mail_latency"]],
  ["shell", ["src/actions/shell", "src/actions/plugin"]],
  ["network", ["src/actions"]],
  ["functions", [
    ...["src/expr/functions", "src/expr/json_schema"],
    ...["src/workflow/decode/check_files.ts", "src/workflow/decode/check_snapshots.ts"],
    "src/run/snapshots",
  ]],
  ["format", [
    ...["src/workflow/format_workflow.ts", "src/base/yaml/format_yaml.ts"],
    ...["src/expr/space_expression.ts", "src/workflow/decode/key_tree.ts"],
  ]],
  ["failure", [
    ...["src/run/failure", "src/expr", "src/base/yaml", "src/report/text", "src/cli/messages.ts"],
    ...["src/cli/run/run_origin.ts", "src/check/formats.ts", "src/check/mask_secrets.ts"],
    ...["src/check/literal_secrets.ts"],
    ...["src/base/text", "src/base/diagnostic.ts", "src/base/value/difference.ts"],
    "src/base/value/render_json.ts",
    ...["src/host/staged_file.ts", "src/run/execute/step_detail.ts"],
    ...["src/run/execute/ask_after_failure.ts", "src/workflow/job_files/job_files.ts"],
    // What it shows of rounds and of load.
    ...["src/report/live_load.ts", "src/run/load/load_stats.ts", "src/run/tally.ts"],
    ...["src/base/value/histogram.ts"],
  ]],
  ["load", ["src/run/load", "src/run/round_tally.ts", "src/workflow/decode/decode_load.ts"]],
  ["inputs", [
    ...["src/cli/run/read_vars.ts", "src/cli/run/secret_command.ts", "src/plan"],
    ...["src/workflow/decode/decode_iteration.ts", "src/workflow/decode/decode_matrix.ts"],
    ...["src/run/execute/run_entries.ts", "src/base/value/combinations.ts"],
  ]],
  ["reports", ["src/report"]],
  ["check", ["src/check"]],
  ["openapi", ["src/openapi"]],
  ["importer", ["src/importer", "src/draft"]],
  ["lsp", ["src/lsp"]],
  ["commands", ["src/cli", "src/dag", "src/schema"]],
  ["suite", ["src/suite", "src/spread", "src/library"]],
  // What actions share, and the rest.
  ["run", ["src"]],
];
